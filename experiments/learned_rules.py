"""Stage learned_rules: the learned rules as a list to read, and what they ask first."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from failbench import study as st
from failbench.base.verdicts import SIGNS
from failbench.features.catalogue import FEATURES
from shared.learned_rules import RULE_SCHEMA, TOP_SCHEMA

MEASUREMENTS = Path("data/measurements/learned_rules")
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
    asked = pl.DataFrame(rows).filter(pl.col("on_top") > 0)
    return st.rounded(asked.sort("at_root", "on_top", "signal", descending=[True, True, False]))


def tables(rules: pl.DataFrame, shares: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """The list of rules, exactly one of which holds for each run, and what each fold asks first."""
    body = []
    for number, rule in enumerate(rules.to_dicts(), start=1):
        conditions = " and ".join(
            f"{test['feature']} {SIGNS[test['side']]} {test['threshold']:.4g}"
            for test in rule["tests"]
        )
        share = st.percent(rule["share"])
        body.append((f"{number}", conditions, rule["category"], share, f"{rule['runs']}"))
    yield st.sheet("learned_rules", body, said)
    signals = [
        (signal, st.words(group), *map(st.percent, both))
        for signal, group, *both in shares.select("signal", "group", *SHARES).rows()
    ]
    yield st.sheet("learned_signals", signals, said)


def main() -> None:
    rules = st.read_output(MEASUREMENTS / "rules.parquet", RULE_SCHEMA)
    tops = st.read_output(MEASUREMENTS / "tops.parquet", TOP_SCHEMA)
    shares, said = signal_shares(tops), st.Captions.read("learned_rules", {"fits": tops.height})
    rows = shares.rename({"fits": "n"}).unpivot(
        SHARES, index=["signal", "n"], variable_name="share"
    )
    by_signal = st.nest(rows, "signal", "share", leaves=("value", "n"))
    st.publish(
        "learned_rules",
        metrics={"rules": {"value": rules.height}, "signals": by_signal},
        points=shares,
        tables=tables(rules, shares, said),
        summary=shares.select("signal", "group", *SHARES),
    )


if __name__ == "__main__":
    st.run(main)
