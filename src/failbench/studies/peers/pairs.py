"""Pairs: alarms of failing runs beside those of their healthy twins."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios, over_those


def pair_figures(said: pl.DataFrame, *, whole: bool) -> Iterator[ValueMetric]:
    """How much more often failing runs are alarmed than twins, and F1 of alarms."""
    pair = ["scenario", "seed"]
    detected = pl.col("detected").cast(pl.Float64)
    watched = said.filter(pl.col("detected").is_not_null())
    twins = watched.filter(kind="twin").group_by(pair).agg(twin=detected.mean())
    pairs = watched.filter(kind="failure").join(twins, on=pair, how="left", maintain_order="left")
    yield ValueMetric(
        "gain",
        over_scenarios(pairs, detected - pl.col("twin")),
        "difference in the probability of an alarm between a failing run and its healthy twin",
    )
    if whole:
        yield ValueMetric(
            "f1",
            over_those(_alarms(pairs), pl.col("is_hit"), pl.col("counts")),
            "F1 of alarms in failing runs of new scenarios and their healthy twins",
        )


def _alarms(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of which F1 is the share that hits: 2 TP of 2 TP + FN + FP.

    A pair has a row for its failing run, which hits if that is alarmed, a second such row if it is,
    and one that never hits if its twin is alarmed.
    """
    is_pair = pl.col("twin").is_not_null()
    hit, false_alarm = is_pair & pl.col("detected"), is_pair & (pl.col("twin") > 0)
    rows = ((is_pair, hit), (hit, hit), (false_alarm, pl.lit(False)))
    return pl.concat(
        pairs.with_columns(counts=counts.fill_null(False), is_hit=is_hit.fill_null(False))
        for counts, is_hit in rows
    )
