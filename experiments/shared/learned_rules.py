"""What measuring the learned rules and reporting them share."""

import polars as pl

TEST = pl.Struct({"feature": pl.String(), "side": pl.String(), "threshold": pl.Float64()})
RULE_SCHEMA = pl.Schema(
    {
        "tests": pl.List(TEST),
        "category": pl.String(),
        "share": pl.Float64(),
        "runs": pl.Int64(),
    }
)
"""Per rule, in the order of the tree's leaves."""
TOP_SCHEMA = pl.Schema({"repeat": pl.Int32(), "fold": pl.Int32(), "signals": pl.List(pl.String())})
"""Per fit: the features that it tests at the root and just below, the root's first."""
