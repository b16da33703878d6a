"""What measuring the rules on architectures and reporting it share."""

from typing import Annotated

import polars as pl
from pydantic import Field

from failbench.base import measuring as st

RECORDED = 0.0
"""The noise of logs as they were recorded."""

RULES = "rules"
"""The study of the improved rules, weighed on the reference architecture."""

KEYS = ("thresholds", "noise", "log")

RULE_PREDICTION_SCHEMA = pl.Schema(
    {**st.PREDICTION_SCHEMA, "thresholds": pl.String(), "noise": pl.Float64(), "log": pl.Int32()}
)
"""Columns of the file of predictions; ``KEYS`` and the first six are its key."""


class ArchitecturesDesign(st.Record):
    """The section ``architectures`` of params.yaml."""

    noise: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field(min_length=1)
    noisy_logs: int = Field(ge=2)
    percentile: float = Field(gt=0.5, lt=1)
    seed: int = Field(ge=0)
