"""Fold plans: which runs each fit of a study is tested on, and which it learns from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Mask
from failbench.base.errors import BadInputError
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT
from failbench.prediction.splits import rows_in_fold


@dataclass(frozen=True)
class FoldPlan:
    """What one fit is tested on; what it is tested on it never learns from."""

    study: str
    repeat: int
    fold: int
    split: int | None = None
    left_out: str | None = None
    seed: int | None = None
    also: int | None = None

    def __post_init__(self) -> None:
        """Refuse a plan that keeps nothing back: it would test what it has learnt."""
        if self.split is None and self.left_out is None and self.seed is None:
            raise ValueError("A fold plan keeps back scenarios, an architecture or a seed.")
        if self.split is None and self.also is not None:
            raise ValueError("A fold plan has a second fold only beside a first.")

    def rows(self, splits: pl.DataFrame, table: pl.DataFrame) -> tuple[Mask, Mask]:
        """Masks of the runs that are tested, and trained on; a run may be neither.

        A run is tested if each of ``split``, ``left_out`` and ``seed`` that is set holds it back,
        and trained on if none does.
        """
        tested, trained = np.ones((2, table.height), dtype=np.bool_)
        if self.split is not None:
            scenarios = table["scenario"].to_numpy().astype(object)
            held = rows_in_fold(splits, scenarios, self.repeat, self.split)
            if self.also is not None:
                held = held | rows_in_fold(splits, scenarios, self.repeat, self.also)
            tested, trained = tested & held, trained & ~held
        for column, value in (("architecture", self.left_out), ("seed", self.seed)):
            if value is not None:
                held = (table[column] == value).to_numpy()
                tested, trained = tested & held, trained & ~held
        for mask, what in ((tested, "test"), (trained, "train on")):
            if not mask.any():
                raise BadInputError(
                    "features",
                    "architecture",
                    f"repeat {self.repeat}, fold {self.fold} of {self.study} has no run to {what}.",
                    "Record every scenario in every architecture of the study, with several seeds.",
                )
        return tested, trained


def by_scenario(study: str, splits: pl.DataFrame) -> tuple[FoldPlan, ...]:
    """One fit per fold of the splits: tested scenarios are new, their architectures are not."""
    return tuple(FoldPlan(study, repeat, fold, split=fold) for repeat, fold in _folds(splits))


def within_training(study: str, splits: pl.DataFrame) -> tuple[FoldPlan, ...]:
    """One fit per pair of folds of a repeat, trained on neither and tested on both.

    When the main study tests one fold of a pair, it trains on the other: there this fit predicts
    training scenarios, out of fold and without anything of the tested ones. What is chosen from
    these predictions may be judged on the tested fold. See :func:`by_tested_fold`.
    """
    folds = _folds(splits)
    width = 1 + max(fold for _, fold in folds)
    return tuple(
        FoldPlan(study, repeat, width * first + second, split=first, also=second)
        for repeat, first in folds
        for other, second in folds
        if other == repeat and first < second
    )


def by_tested_fold(predictions: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Predictions by :func:`within_training`, with the fold of the pair that they serve."""
    width = 1 + max(fold for _, fold in _folds(splits))
    tested = splits.select("repeat", "scenario", tested_fold="fold")
    pair = pl.col("fold") // width + pl.col("fold") % width
    joined = predictions.join(tested, on=("repeat", "scenario"), how="left")
    return joined.with_columns(fold=pair - pl.col("tested_fold")).drop("tested_fold")


def by_architecture(
    splits: pl.DataFrame, architectures: Iterable[str], seed: int
) -> tuple[FoldPlan, ...]:
    """Two studies that leave one architecture out at a time, one with new scenarios, one without.

    In ``leave_one_architecture_out`` neither the architecture nor the scenario of a tested run was
    trained on: one fit per fold and architecture. In ``known_scenarios`` the architecture was not,
    but all scenarios were, in the other architectures: one fit per architecture. The difference
    between the two says how much a method relies on having seen the cause in training.
    """
    names = sorted(set(architectures))
    folds = _folds(splits)
    width = 1 + max(fold for _, fold in folds)
    new = [
        FoldPlan(LEFT_OUT, repeat, width * number + fold, split=fold, left_out=name)
        for number, name in enumerate(names)
        for repeat, fold in folds
    ]
    known = [
        FoldPlan(KNOWN_SCENARIOS, repeat, number, left_out=name, seed=seed)
        for number, name in enumerate(names)
        for repeat in sorted({repeat for repeat, _ in folds})
    ]
    return (*new, *known)


def _folds(splits: pl.DataFrame) -> list[tuple[int, int]]:
    return splits.select("repeat", "fold").unique().sort("repeat", "fold").rows()
