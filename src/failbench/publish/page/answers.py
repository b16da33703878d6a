"""Answers of each method by scenario, and the first view: the finding and accuracies."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.vocabulary import ABSTAIN, PRIMARY_SET
from failbench.study import labels
from failbench.study.cells import Measured
from failbench.study.inputs import Scope
from failbench.study.paper_numbers import Reported, reported_accuracies

VERDICTS: Final = {name: name for name in ("right", "wrong", "abstained", "divided")}
"""What most answers of a method to a scenario are; divided where none of the three has most."""


@dataclass(frozen=True)
class Answers:
    """The answers of one method to the runs of one scenario."""

    category: str
    counts: dict[str, int]
    right_by_seed: tuple[int, ...]
    repeats: int

    @property
    def total(self) -> int:
        """How many answers there are."""
        return sum(self.counts.values())

    @property
    def verdict(self) -> str:
        """Which of ``VERDICTS`` more than half of the answers make.

        >>> Answers("unknown", {"unknown": 2, "abstain": 2}, (2,), 4).verdict
        'divided'
        """
        right, abstained = self.counts.get(self.category, 0), self.counts.get(ABSTAIN, 0)
        wrong = self.total - right - abstained
        counts = {"right": right, "abstained": abstained, "wrong": wrong}
        most = max(counts, key=counts.__getitem__)
        return most if 2 * counts[most] > self.total else "divided"


def answers_by_scenario(predictions: pl.DataFrame) -> dict[str, dict[str, Answers]]:
    """Answers on the original's features, by scenario, then method in the order of labels."""
    table = predictions.filter(pl.col("feature_set") == PRIMARY_SET).sort(
        "scenario", "method", "seed", "repeat"
    )
    methods = shown_order(table["method"].unique().to_list())
    parts = table.partition_by("scenario", "method", as_dict=True)

    def answers_of(scenario: str, method: str) -> Answers:
        if (scenario, method) in parts:
            return _answers(parts[scenario, method])
        problem = f"there is no answer to {scenario!r} on feature set {PRIMARY_SET}."
        remedy = f"Run `dvc repro nested_cv@{method}`."
        raise BadInputError("data/predictions/nested_cv", method, problem, remedy)

    return {
        scenario: {method: answers_of(scenario, method) for method in methods}
        for scenario in table["scenario"].unique().sort()
    }


def _answers(part: pl.DataFrame) -> Answers:
    counts = Counter(part["prediction"].to_list())
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    right = (pl.col("prediction") == pl.col("category")).sum().alias("right")
    by_seed = tuple(int(count) for count in part.group_by("seed").agg(right).sort("seed")["right"])
    return Answers(part["category"][0], ordered, by_seed, part["repeat"].n_unique())


def shown_order(methods: list[str]) -> list[str]:
    """Held-out methods, then development, then those that are told; within these by label order."""
    return sorted(
        labels.in_label_order(methods),
        key=lambda method: (not labels.is_blind(method), labels.reads_true_category(method)),
    )


def method_facts(method: str) -> dict[str, object]:
    """What every view says of a method: its name, what it reads, and whether it is held out."""
    told = labels.reads_true_category(method)
    return {
        "id": method,
        "label": labels.method_label(method),
        "reads": labels.reads_label(method),
        "told": told,
        "development": labels.made_in_view(method) and not told,
    }


TOLD_NOTE: Final = (
    "Hollow: methods that are given the true category, for all or part of their answers. They "
    "show what an assumption about people comes to, and are no diagnosis."
)

ESTIMATE: Final = ("value", "ci_low", "ci_high", "n")


class ShownIntervals(Record):
    """Of the section ``statistics`` of params.yaml, what intervals are said to be."""

    confidence: float = Field(gt=0, lt=1)


def landing(
    measured: Measured,
    paper: Reported,
    scope: Scope,
    finding: str,
    *,
    scale: str,
    majority: float,
    confidence: float,
) -> dict[str, object]:
    """What the first view shows, below the finding that the stage ``intervals`` published."""
    of_methods = measured[PRIMARY_SET]
    rows = [_row(method, of_methods[method], paper) for method in shown_order([*of_methods])]
    held_out = sum(map(labels.is_blind, of_methods))
    n = int(next(iter(of_methods.values()))["accuracy"]["n"])
    measured_how = (
        f"Failures of {n} scenarios in the reference setting, {scope.seeds} seeds, "
        f"{scope.repeats} repeats of the folds, the original's 19 features; each answer is by a "
        f"fit that has not learnt from its scenario. {100 * confidence:g} % intervals by "
        "resampling scenarios and seeds. The original's scenarios are others than these, and not "
        "released. One author wrote faults, labels and rules."
    )
    return {
        "finding": finding,
        "scale": scale,
        "majority": {"value": majority, "n": scope.scenarios},
        "rows": rows,
        "title": "How often each method names the right category of a failure, of five",
        "description": f"Dots with intervals for {len(rows)} measured methods, {held_out} of "
        f"which were not fitted to the scenario that they diagnose, and diamonds for what the "
        f"original reports. {finding}",
        "caption": [measured_how, f"* {labels.DEVELOPMENT_NOTE}", TOLD_NOTE],
    }


def _row(
    method: str, estimates: Mapping[str, Mapping[str, float]], paper: Reported
) -> dict[str, object]:
    reported = reported_accuracies(paper).get(method)
    in_table = paper.tables.methods.rows.get(method)
    low, high = (None, None) if in_table is None else in_table.interval or (None, None)
    there = None if reported is None else {"value": reported, "ci_low": low, "ci_high": high}
    measured = {key: estimates["accuracy"][key] for key in ESTIMATE}
    return {**method_facts(method), "measured": measured, "reported": there}
