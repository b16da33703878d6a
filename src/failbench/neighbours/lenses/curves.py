"""Curves: the points of any lens in one form, which figures draw and studies publish."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.neighbours.lenses.catalogue import Lens
from failbench.neighbours.lenses.slices import CORRECT, TRUNCATED, WRONG

CURVE_SCHEMA: Final = pl.Schema(
    {"series": pl.String, "x": pl.Float64, "y": pl.Float64, "low": pl.Float64, "high": pl.Float64}
)
"""A row for each point of a series; bounds are null where there is no interval."""


def curves_of(lens: Lens, points: pl.DataFrame) -> pl.DataFrame:
    """What a figure shows of a lens."""
    if lens == "surface":
        return _series(
            points.filter(pl.col("depth").is_null(), pl.col("accuracy").is_not_null()),
            "accuracy",
            ("length", "accuracy", "ci_low", "ci_high"),
        )
    if lens == "fft":
        columns = ("frequency", "amplitude", "ci_low", "ci_high")
        return _series(points.filter(band="all"), "amplitude", columns)
    if lens == "compression":
        empty = points.with_columns(nothing=pl.lit(None, pl.Float64))
        return pl.concat(
            _series(empty.filter(outcome=name), name, ("tokens", "bytes", "nothing", "nothing"))
            for name in (CORRECT, WRONG, TRUNCATED)
        )
    return pl.concat(
        _series(points, name, ("last_token", *(f"{side}_incidence{end}" for end in _ENDS)))
        for name, side in ((CORRECT, "right"), (WRONG, "wrong"))
    )


_ENDS: Final = ("", "_low", "_high")


def _series(points: pl.DataFrame, name: str, columns: tuple[str, ...]) -> pl.DataFrame:
    return points.select(
        pl.lit(name).alias("series"),
        *(
            pl.col(column).cast(pl.Float64).alias(to)
            for column, to in zip(columns, CURVE_SCHEMA.names()[1:], strict=True)
        ),
    ).sort("x")
