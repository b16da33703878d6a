"""What measuring other tools and reporting them share."""

from typing import Annotated, Self

import polars as pl
from pydantic import Field, model_validator

from failbench.base import measuring as st


class PeersStudy(st.Record):
    """Whose verdicts are read, and what is tried of thresholds; the section of params.yaml."""

    verdicts: tuple[str, ...] = Field(min_length=1)
    factors: tuple[Annotated[float, Field(gt=0)], ...] = Field(min_length=1)
    repeats: int = Field(ge=1)
    methods: tuple[str, ...] = Field(min_length=1)
    monitor_version: str

    @model_validator(mode="after")
    def _factors_are_in_order(self) -> Self:
        if 1.0 not in self.factors or list(self.factors) != sorted(set(self.factors)):
            raise ValueError("factors must rise, and hold 1, which stands for what is documented")
        return self


RUN_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "setting": pl.String,  # architecture and optimizer
        "kind": pl.String,
        "scenario": pl.String,  # of failing runs and their twins
        "category": pl.String,
        "seed": pl.Int32,
        "onset_step": pl.Int32,
        "failure_step": pl.Int32,
        "ends_itself": pl.Boolean,  # by an exception, a signal or hanging, which needs no watching
    }
)
"""The runs of the reference setting, and those of others that a peer was asked about."""

SAID_SCHEMA = pl.Schema(
    {
        "method": pl.String,
        "choice": pl.String,  # of thresholds, ``documented`` or another
        "repeat": pl.Int32,
        "run_id": pl.String,
        "detected": pl.Boolean,  # null where the method is told that the run failed
        "step": pl.Int32,  # of the first alarm; null without one, or where logs are read afterwards
        "prediction": pl.String,
        "conditions": pl.Float64,  # null where a verdict cannot be checked by conditions
    }
)
"""What a method says of a run; its key are the first four."""

LOG_ANSWERS = pl.Schema(
    {
        **dict.fromkeys(("model", "run_id", "format", "setting", "prediction"), pl.String),
        "repeat": pl.Int32,
        "alarm": pl.Boolean,
        "confidence": pl.Float64,
    }
)
"""Columns of the answers to rendered logs that are read."""

BREAKS = pl.Schema(
    dict.fromkeys(("version", "run_id", "bounds"), pl.String)
    | dict.fromkeys(("steps_ahead", "first_break"), pl.Int32)
)
"""Columns of the monitor's verdicts that are read."""
