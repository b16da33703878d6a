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
    """Which runs are judged, and by what; the section ``monitor``.

    Attributes
    ----------
    versions
        Frozen versions of the rules, in their order.
    halves
        Halves of the scenarios whose runs are read. Those of the others are not looked at.
    lenders
        Settings whose bounds all other settings' runs are held against as well.
    contrasts
        Differences in accuracy between methods, left less right.
    steps_ahead
        Steps before the failure at which logs are cut; at 0 the end is known.
    """

    versions: tuple[str, ...] = Field(min_length=1)
    halves: tuple[Half, ...] = Field(min_length=1)
    lenders: tuple[str, ...]
    contrasts: tuple[tuple[str, str], ...]
    steps_ahead: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
