"""Scoring: how often methods name the cause of recorded runs that they have not learnt from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import categories_of
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, few_or_many
from failbench.statistics.metrics import METRICS


class MethodScore(Record):
    """What a method answered, and how often it was right."""

    accuracy: Interval
    right: int
    answers: Mapping[str, int]


class Score(Record):
    """Accuracies of methods on recorded runs."""

    runs: int
    scenarios: Mapping[str, int]
    excluded: Mapping[str, int]
    confidence: float
    methods: Mapping[str, MethodScore]


def labelled_runs(
    runs: pl.DataFrame,
    scenarios: Iterable[Scenario],
    trained_on: frozenset[str],
    place: Path,
    labels: Path,
) -> pl.DataFrame:
    """The failing runs of scenarios that nothing was learnt from, with their categories."""
    failing = runs.filter(pl.col("kind") == "failure")
    if failing.is_empty():
        remedy = "Name a folder with failing runs."
        raise BadInputError(place, "kind", "no run is a failure.", remedy)
    tested = failing.filter(~pl.col("scenario").is_in(sorted(trained_on)))
    if tested.is_empty():
        problem = "every failing run is of a scenario that the methods have learnt from."
        raise BadInputError(place, "scenario", problem, "Score runs of other scenarios.")
    labelled = tested.join(categories_of(scenarios), on="scenario", how="left")
    unlabelled = labelled.filter(pl.col("category").is_null()).sort("run_id")
    if unlabelled.height:
        run_id, scenario = unlabelled.select("run_id", "scenario").row(0)
        problem = f"{run_id!r} has no label: no file in {labels} defines its scenario, {scenario}."
        remedy = "Name the folder of its scenario with --scenarios."
        raise BadInputError(place, "scenario", problem, remedy)
    return labelled.select("run_id", "scenario", "seed", "category").sort("run_id")


def runs_by_scenario(runs: pl.DataFrame) -> dict[str, int]:
    """How many runs each scenario has, by its id, in alphabetical order."""
    return dict(sorted(Counter(runs["scenario"].to_list()).items()))


def method_scores(
    runs: pl.DataFrame, diagnoses: pl.DataFrame, settings: ScenarioIntervalSettings
) -> dict[str, MethodScore]:
    """Accuracy of each method, with an interval over scenarios."""
    answered = diagnoses.select("run_id", "method", prediction="diagnosis").join(runs, on="run_id")
    scores = {}
    for (name,), answers in answered.group_by("method", maintain_order=True):
        predictions = answers.with_columns(repeat=pl.lit(0))
        scores[str(name)] = MethodScore(
            accuracy=few_or_many(predictions, (METRICS["accuracy"],), settings)["accuracy"],
            right=int((answers["prediction"] == answers["category"]).sum()),
            answers=dict(sorted(Counter(answers["prediction"].to_list()).items())),
        )
    return scores
