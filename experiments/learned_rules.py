"""Stage learned_rules: the learned rules as a list to read, and what they ask first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from failbench.base.verdicts import SIGNS
from failbench.features.catalogue import FEATURES
from shared.learned_rules import RULE_SCHEMA, TOP_SCHEMA

MEASUREMENTS = Path("data/measurements/learned_rules")
SHARES = {"at_root": "At the root", "on_top": "At the root or just below"}


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
    asked = pl.DataFrame(rows).filter(pl.col("on_top") > 0)
    return st.rounded(asked.sort("at_root", "on_top", "signal", descending=[True, True, False]))


def by_signal(shares: pl.DataFrame) -> dict[str, Any]:
    names = shares.rename({"fits": "n"})
    rows = names.unpivot(list(SHARES), index=["signal", "n"], variable_name="share")
    return st.nest(rows, "signal", "share", leaves=("value", "n"))


def tables(rules: pl.DataFrame, shares: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """The list of rules, exactly one of which holds for each run, and what each fold asks first."""
    yield st.Table.of(
        "learned_rules",
        (
            st.Column("Rule", cell=lambda row: f"{row['number'] + 1}"),
            st.Column("If", align="left", cell=conditions),
            st.Column("Then", align="left", cell=lambda row: row["category"]),
            st.Column("Share of the category", cell=lambda row: st.percent(row["share"])),
            st.Column("Runs", cell=lambda row: f"{row['runs']}"),
        ),
        rules.with_row_index("number").to_dicts(),
        said.caption("learned_rules"),
        said.notes("learned_rules"),
    )
    yield st.Table.of(
        "learned_signals",
        (
            st.Column("Signal", align="left", cell=lambda row: row["signal"]),
            st.Column("Group", align="left", cell=lambda row: st.words(row["group"])),
            st.Column(SHARES["at_root"], cell=lambda row: st.percent(row["at_root"])),
            st.Column(SHARES["on_top"], cell=lambda row: st.percent(row["on_top"])),
        ),
        shares.to_dicts(),
        said.caption("learned_signals"),
        said.notes("learned_signals"),
    )


def conditions(rule: dict[str, Any]) -> str:
    return " and ".join(
        f"{test['feature']} {SIGNS[test['side']]} {test['threshold']:.4g}" for test in rule["tests"]
    )


def main() -> None:
    rules = st.read_output(MEASUREMENTS / "rules.parquet", RULE_SCHEMA)
    tops = st.read_output(MEASUREMENTS / "tops.parquet", TOP_SCHEMA)
    shares, said = signal_shares(tops), st.Captions.read("learned_rules", {"fits": tops.height})
    st.publish(
        "learned_rules",
        metrics={"rules": {"value": rules.height}, "signals": by_signal(shares)},
        points=shares,
        tables=tables(rules, shares, said),
        summary=shares.select("signal", "group", *SHARES),
    )


if __name__ == "__main__":
    st.run(main)
