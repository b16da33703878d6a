"""Answers: what each method says of each scenario, over all repeats and seeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, PRIMARY_SET
from failbench.study.labels import (
    in_label_order,
    is_blind,
    made_in_view,
    method_label,
    reads_label,
    reads_true_category,
)

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
        counts = {
            "right": right,
            "abstained": abstained,
            "wrong": self.total - right - abstained,
        }
        most = max(counts, key=counts.__getitem__)
        return most if 2 * counts[most] > self.total else "divided"


def answers_by_scenario(predictions: pl.DataFrame) -> dict[str, dict[str, Answers]]:
    """Answers on the original's features, by scenario, then method in the order of labels."""
    table = predictions.filter(pl.col("feature_set") == PRIMARY_SET).sort(
        "scenario", "method", "seed", "repeat"
    )
    methods = shown_order(table["method"].unique().to_list())
    parts = table.partition_by("scenario", "method", as_dict=True)
    answers: dict[str, dict[str, Answers]] = {}
    for scenario in table["scenario"].unique().sort().to_list():
        answers[scenario] = {}
        for method in methods:
            part = parts.get((scenario, method))
            if part is None:
                raise BadInputError(
                    "data/predictions/nested_cv",
                    method,
                    f"there is no answer to {scenario!r} on feature set {PRIMARY_SET}.",
                    f"Run `dvc repro nested_cv@{method}`.",
                )
            answers[scenario][method] = _answers(part)
    return answers


def _answers(part: pl.DataFrame) -> Answers:
    counts = Counter(part["prediction"].to_list())
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    right = part.group_by("seed").agg(
        (pl.col("prediction") == pl.col("category")).sum().alias("right")
    )
    by_seed = tuple(int(count) for count in right.sort("seed")["right"])
    return Answers(part["category"][0], ordered, by_seed, part["repeat"].n_unique())


def shown_order(methods: list[str]) -> list[str]:
    """Held-out methods, then development, then those that are told; within these by label order."""
    return sorted(
        in_label_order(methods),
        key=lambda method: (not is_blind(method), reads_true_category(method)),
    )


def method_facts(method: str) -> dict[str, object]:
    """What every view says of a method: its name, what it reads, and whether it is held out."""
    told = reads_true_category(method)
    return {
        "id": method,
        "label": method_label(method),
        "reads": reads_label(method),
        "told": told,
        "development": made_in_view(method) and not told,
    }
