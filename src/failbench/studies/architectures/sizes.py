"""Sizes: how many parameters the models of each architecture have."""

from __future__ import annotations

import polars as pl

from failbench.studies.architectures.measure import RECORDED, RULES
from failbench.studies.architectures.results import FAMILY, rate_row

SIZE = "parameter_count"


def with_sizes(rates: pl.DataFrame, features: pl.DataFrame, rules: pl.DataFrame) -> pl.DataFrame:
    """Rates, and below them how many parameters the models of each architecture have."""
    recorded = features.join(rules.select("run_id").unique(), on="run_id", how="semi")
    count = pl.col("parameter_count")
    counts = (
        recorded.group_by("architecture")
        .agg(count.median(), count.min().alias("low"), count.max().alias("high"), n=count.count())
        .sort("architecture")
    )
    family = dict(zip(FAMILY, (RULES, "improved_rules", "reference", RECORDED), strict=True))
    rows = [
        rate_row(
            {**family, "architecture": name, "metric": SIZE},
            (value, low, high),
            n,
            "run",
            n,
            "range",
        )
        for name, value, low, high, n in counts.iter_rows()
    ]
    return pl.concat([rates, pl.DataFrame(rows, schema=rates.schema)])
