"""Answers: what each method says of each scenario, over all repeats and seeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, PRIMARY_SET
from failbench.study import labels

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
