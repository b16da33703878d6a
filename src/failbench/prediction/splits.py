"""Folds: which scenarios are tested in which fold, and which runs each fit of a study learns from.

Splits are made once and shared by all methods. A view is a feature table of failing runs: cut at
other steps, or read on another scale. Views are stacked into one table so that a scenario is kept
back from all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from failbench.base.arrays import Mask
from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT


def make_splits(
    categories: pl.DataFrame, folds: int, repeats: int, seed: int, group: str | None = None
) -> pl.DataFrame:
    """Assign each scenario to one test fold per repeat, stratified by category.

    The unit is the scenario, so that its seeds, architectures and twin move together.
    """
    table = categories.select("scenario", "category", *(() if group is None else (group,)))
    table = table.sort("scenario")
    if table["scenario"].is_duplicated().any():
        raise BadInputError(
            "scenarios", "scenario", "an id occurs twice.", "Give one row per scenario."
        )
    rarest = table["category"].value_counts().sort("count", "category").row(0, named=True)
    if rarest["count"] < folds:
        raise BadInputError(
            "scenarios",
            "category",
            f"{rarest['category']} has {rarest['count']} scenarios, fewer than {folds} folds.",
            "Use fewer folds, or record more scenarios.",
        )
    scenarios, labels = table["scenario"].to_numpy(), table["category"].to_numpy()
    if group is None:
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
        parts = list(splitter.split(scenarios, labels))
    else:
        splitters = [
            StratifiedGroupKFold(folds, shuffle=True, random_state=seed + repeat)
            for repeat in range(repeats)
        ]
        groups = table[group].to_numpy()
        parts = [part for each in splitters for part in each.split(scenarios, labels, groups)]
    rows = [
        pl.DataFrame(
            {"repeat": index // folds, "fold": index % folds, "scenario": scenarios[tested]},
        )
        for index, (_, tested) in enumerate(parts)
    ]
    return pl.concat(rows).cast(SPLIT_SCHEMA).sort("repeat", "fold", "scenario")


def rows_in_fold(
    splits: pl.DataFrame, scenarios: npt.NDArray[np.object_], repeat: int, fold: int
) -> npt.NDArray[np.bool_]:
    """Mask of the runs whose scenario is tested in this fold; all others are trained on."""
    tested = splits.filter(pl.col("repeat") == repeat, pl.col("fold") == fold)["scenario"]
    mask = np.isin(scenarios.astype(str), tested.to_numpy().astype(str))
    if not mask.any():
        raise BadInputError(
            "splits",
            "scenario",
            f"repeat {repeat}, fold {fold} tests none of the runs.",
            "Make the splits from the same scenarios as the features.",
        )
    return mask


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


@dataclass(frozen=True)
class ViewPlan(FoldPlan):
    """A fit trained on one view and tested on others, by folds where it learns of these."""

    trained_on: str = ""
    tested_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a plan that is tested on the view that it has learnt whole."""
        if self.trained_on in self.tested_on:
            super().__post_init__()

    def rows(self, splits: pl.DataFrame, table: pl.DataFrame) -> tuple[Mask, Mask]:
        """As :meth:`FoldPlan.rows`, over a table with a column ``view``."""
        tested, trained = super().rows(splits, table)
        tested = tested & table["view"].is_in(list(self.tested_on)).to_numpy()
        trained = trained & (table["view"] == self.trained_on).to_numpy()
        for mask, what in ((tested, "test"), (trained, "train on")):
            if not mask.any():
                raise BadInputError(
                    "features",
                    "view",
                    f"repeat {self.repeat}, fold {self.fold} of {self.study} has no run to {what}.",
                    "Record the runs of the study, or use fewer folds.",
                )
        return tested, trained


def stacked(views: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """All views as one table, with the name of each row's view in ``view``."""
    return pl.concat(table.with_columns(view=pl.lit(name)) for name, table in views.items())


def by_view(
    study: str, splits: pl.DataFrame, trained_on: str, tested_on: tuple[str, ...]
) -> tuple[ViewPlan, ...]:
    """One fit per fold of the splits, trained on one view and tested on others."""
    return tuple(
        ViewPlan(
            study,
            plan.repeat,
            plan.fold,
            split=plan.split,
            trained_on=trained_on,
            tested_on=tested_on,
        )
        for plan in by_scenario(study, splits)
    )
