"""What a log holds of each signal: how much, from where to where, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import SIGNALS, SPLITS, SignalName, Split


@dataclass(frozen=True)
class SignalSummary:
    """One signal on one split."""

    signal: SignalName
    split: Split
    values: int
    first_step: int | None
    last_step: int | None
    last_line: int | None
    last: float
    lowest: float | None
    highest: float | None
    not_finite: int
    first_not_finite_step: int | None
    first_not_finite_line: int | None


def summaries(log: Log) -> list[SignalSummary]:
    """Each signal and split that the log has values of, in the order of ``SIGNALS``."""
    return [
        _summary(series, signal, split)
        for signal in SIGNALS
        for split in SPLITS
        if (series := log.series(signal, split)).height
    ]


def _summary(series: pl.DataFrame, signal: SignalName, split: Split) -> SignalSummary:
    value, finite = pl.col(signal), pl.col(signal).is_finite()
    steps, broken = pl.col("step").drop_nulls(), finite.not_()
    columns = series.select(
        values=pl.len(),
        first_step=steps.first(),
        last_step=steps.last(),
        last_line=pl.col("line").last(),
        last=value.last(),
        lowest=value.filter(finite).min(),
        highest=value.filter(finite).max(),
        not_finite=broken.sum(),
        first_not_finite_step=pl.col("step").filter(broken).first(),
        first_not_finite_line=pl.col("line").filter(broken).first(),
    )
    return SignalSummary(signal, split, **columns.row(0, named=True))
