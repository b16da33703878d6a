"""Settings of the monitor's study: the section ``monitor`` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Final

import polars as pl
from pydantic import Field

from failbench.records import Record
from failbench.studies.monitor.halves import Half

HISTORY_SCHEMA: Final = pl.Schema(
    dict.fromkeys(("version", "date", "hash", "changed", "why", "first_scored"), pl.String())
)
"""Columns of ``versions.csv``."""


def versioned(schema: pl.Schema) -> pl.Schema:
    """The columns of a table of all versions."""
    return pl.Schema({"version": pl.String(), **schema})


class JudgedRuns(Record):
    """Which runs are judged, and by what; the section ``monitor``."""

    versions: tuple[str, ...] = Field(min_length=1)
    halves: tuple[Half, ...] = Field(min_length=1)
    lenders: tuple[str, ...]
    contrasts: tuple[tuple[str, str], ...]
    steps_ahead: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
