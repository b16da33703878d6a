"""Results of the learned rules: how often each signal is asked first, over all folds."""

from __future__ import annotations

import polars as pl

from failbench.features.catalogue import FEATURES
from failbench.statistics.estimates import nest

SIGNAL_SCHEMA = pl.Schema(
    {
        "signal": pl.String,
        "group": pl.String,
        "subgroup": pl.String,
        "at_root": pl.Float64,
        "on_top": pl.Float64,
        "fits": pl.Int64,
    }
)
"""Per signal: the share of fits that test it at the root, and at the root or just below."""

SHARES = ("at_root", "on_top")


def signal_shares(tops: pl.DataFrame) -> pl.DataFrame:
    """The share of fits that ask a signal first.

    Folds share training runs, so that the fits are no independent sample: the shares say how much
    the choice depends on a fifth of the scenarios, and get no interval.
    """
    signals = tops["signals"].to_list()
    rows = [
        {
            "signal": feature.name,
            "group": feature.group,
            "subgroup": feature.subgroup,
            "at_root": sum(top[:1] == [feature.name] for top in signals) / len(signals),
            "on_top": sum(feature.name in top for top in signals) / len(signals),
            "fits": len(signals),
        }
        for feature in FEATURES
    ]
    return (
        pl.DataFrame(rows, schema=SIGNAL_SCHEMA)
        .filter(pl.col("on_top") > 0)
        .sort("at_root", "on_top", "signal", descending=[True, True, False])
    )


def learned_rules_metrics(rules: int, shares: pl.DataFrame) -> dict[str, object]:
    """The number of rules, and the shares as nested scalars."""
    rows = shares.unpivot(SHARES, index=["signal", "fits"], variable_name="share").rename(
        {"fits": "n"}
    )
    return {
        "rules": {"value": rules},
        "signals": nest(rows, "signal", "share", leaves=("value", "n")),
    }
