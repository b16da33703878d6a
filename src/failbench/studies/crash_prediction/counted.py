"""Answers by pair: what is resampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from failbench.arrays import Array

COUNTS: Final = ("hits", "alarms", "named", "silent", "answered", "answered_right", "asked")
"""Of a pair: crashes foreseen and alarms about what does not crash, crashes whose exception is
named as well, notebooks that do not crash and of which none is foreseen, notebooks about which
something is said, those of them that are told right, and all. Who cannot say foresees no crash."""

HITS, ALARMS, NAMED, SILENT, ANSWERED, ANSWERED_RIGHT, ASKED = range(len(COUNTS))


@dataclass(frozen=True)
class Counted:
    """The answers of a predictor in an arm."""

    predictor: str
    arm: str
    pairs: tuple[str, ...]
    counts: Array


def count(rows: pl.DataFrame) -> tuple[Counted, ...]:
    """Count the answers of each predictor and arm, by pair."""
    said = pl.col("crash").fill_null(value=False)
    crashed = pl.col("crashed")
    flags = {
        "hits": said & crashed,
        "alarms": said & ~crashed,
        "named": said & crashed & (pl.col("exception") == pl.col("raised")).fill_null(value=False),
        "silent": ~said & ~crashed,
        "answered": pl.col("crash").is_not_null(),
        "answered_right": (pl.col("crash") == crashed).fill_null(value=False),
        "asked": pl.lit(value=True),
    }
    by_pair = (
        rows.with_columns(**flags)
        .group_by("predictor", "arm", "pair", maintain_order=True)
        .agg(pl.col(COUNTS).sum())
        .sort("pair", maintain_order=True)
    )
    return tuple(
        Counted(
            str(predictor),
            str(arm),
            tuple(part["pair"]),
            part.select(COUNTS).to_numpy().astype(np.float64),
        )
        for (predictor, arm), part in by_pair.group_by("predictor", "arm", maintain_order=True)
    )
