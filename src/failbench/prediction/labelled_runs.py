"""Labelled runs: the failing runs that methods learn from and are tested on."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import polars as pl

from failbench.base.arrays import Labels
from failbench.features.feature_table import to_frame


@dataclass(frozen=True)
class LabelledRuns:
    """Failing runs with what is known of them: four parallel views, one row per run."""

    table: pl.DataFrame
    frame: pd.DataFrame
    labels: Labels
    groups: Labels

    @classmethod
    def from_table(cls, table: pl.DataFrame) -> LabelledRuns:
        """Take a feature table of failing runs apart."""
        ordered = table.sort("run_id")
        return cls(
            ordered,
            to_frame(ordered),
            ordered["category"].to_numpy().astype(object),
            ordered["scenario"].to_numpy().astype(object),
        )
