"""Scoring: how often methods name the cause of recorded runs that they have not learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import categories_of
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import METRICS
from failbench.statistics.scenario_values import scenario_answers

ACCURACY: Final = METRICS["accuracy"]


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
        raise BadInputError(
            place, "kind", "no run is a failure.", "Name a folder with failing runs."
        )
    tested = failing.filter(~pl.col("scenario").is_in(sorted(trained_on)))
    if tested.is_empty():
        raise BadInputError(
            place,
            "scenario",
            "every failing run is of a scenario that the methods have learnt from.",
            "Score runs of other scenarios.",
        )
    labelled = tested.join(categories_of(scenarios), on="scenario", how="left")
    unlabelled = labelled.filter(pl.col("category").is_null()).sort("run_id")
    if unlabelled.height:
        run_id, scenario = unlabelled.select("run_id", "scenario").row(0)
        raise BadInputError(
            place,
            "scenario",
            f"{run_id!r} has no label: no file in {labels} defines its scenario, {scenario}.",
            "Name the folder of its scenario with --scenarios.",
        )
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
            accuracy=accuracy_interval(predictions, settings),
            right=int((answers["prediction"] == answers["category"]).sum()),
            answers=dict(sorted(Counter(answers["prediction"].to_list()).items())),
        )
    return scores


def accuracy_interval(predictions: pl.DataFrame, settings: ScenarioIntervalSettings) -> Interval:
    """Accuracy with the interval that the studies report, over scenarios and their seeds.

    Where a category has a single scenario there is nothing to resample within it, and Wilson's
    interval with n = scenarios takes the place of the bootstrap's, as it does near one.
    """
    answers = scenario_answers(predictions)
    if min(answers.sizes) > 1:
        return scenario_intervals(answers, (ACCURACY,), settings)[ACCURACY.name]
    value = float(ACCURACY.score(answers.confusion(), answers.categories))
    low, high = wilson(value, answers.n, settings.confidence)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=answers.n,
        method="Wilson",
        resampling_unit="scenario",
        estimand=ACCURACY.estimand,
    )
