"""Views: the same runs seen in several ways, and fits that learn from one and are tested on others.

A view is a feature table of failing runs: cut at other steps, or read on another scale. Views are
stacked into one table so that a scenario is kept back from all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from failbench.base.arrays import Mask
from failbench.base.errors import BadInputError
from failbench.prediction.fold_plans import FoldPlan, by_scenario


@dataclass(frozen=True)
class ViewPlan(FoldPlan):
    """A fold that is trained on one view and tested on others."""

    trained_on: str = ""
    tested_on: tuple[str, ...] = ()

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
