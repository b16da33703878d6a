"""Counts of the monitor: what decided, how soon something broke, and false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from failbench.monitored.verdicts import OWN
from failbench.statistics.intervals import wilson
from failbench.statistics.scenario_values import right
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.judged import Judged
from failbench.studies.monitor.results import ALL_SETTINGS, LOGIC
from failbench.vocabulary import ABSTAIN

OTHER_ARCHITECTURES: Final = "other_architectures"

HEALTHY: Final[Mapping[str, tuple[str, Half | None]]] = {
    "twin": ("twin", None),
    "twin_of_test_half": ("twin", "test"),
    "success": ("success", None),
}
"""Healthy runs of which false alarms are counted: their kind, and the half of their scenarios."""


def decisive_table(judged: Judged) -> pl.DataFrame:
    """What decided, and how many runs of a setting it was right and wrong about."""
    nothing = pl.lit("nothing")
    keys = ("setting", "decided_kind", "decided_by")
    counted = (
        judged.at_failure()
        .with_columns(
            decided_by=pl.col("decided_by").fill_null(nothing),
            decided_kind=pl.col("decided_kind").fill_null(nothing),
        )
        .group_by(keys)
        .agg(right=right().sum().cast(pl.Int32), wrong=(~right()).sum().cast(pl.Int32))
    )
    return counted.select(
        pl.lit(judged.rules.version).alias("version"), *keys, "right", "wrong"
    ).sort(
        "setting", pl.col("right") + pl.col("wrong"), "decided_by", descending=[False, True, False]
    )


def delay_table(judged: Judged) -> pl.DataFrame:
    """How many steps after onset the first invariant breaks, by setting."""
    delay = pl.col("first_break") - pl.col("onset_step")
    answers = judged.of_whole_logs().with_columns(delay=delay)
    after = pl.col("delay").filter(pl.col("delay") >= 0)

    def summary(table: pl.DataFrame, setting: str) -> pl.DataFrame:
        return table.select(
            version=pl.lit(judged.rules.version),
            setting=pl.lit(setting),
            runs=pl.len().cast(pl.Int32),
            before=(pl.col("delay") < 0).sum().cast(pl.Int32),
            never=pl.col("first_break").is_null().sum().cast(pl.Int32),
            median=after.median().cast(pl.Float64),
            low=after.quantile(0.25, "linear").cast(pl.Float64),
            high=after.quantile(0.75, "linear").cast(pl.Float64),
        )

    settings = sorted(answers["setting"].unique())
    return pl.concat(
        [
            summary(answers, ALL_SETTINGS),
            *(summary(answers.filter(setting=setting), setting) for setting in settings),
        ]
    )


def false_alarm_table(
    judged: Judged, lenders: Sequence[str], reference: str, confidence: float
) -> pl.DataFrame:
    """How many healthy runs get an answer: in each setting, in all, in other architectures."""
    fitted = [each for each in judged.rules.invariants if each.bound is None]
    rows = []
    for kind, (of_runs, half) in HEALTHY.items():
        conditions = {
            LOGIC: judged.without(fitted, of_runs),
            OWN: judged.of_whole_logs(OWN, of_runs),
            **{lender: judged.of_whole_logs(lender, of_runs) for lender in lenders},
        }
        for bounds, all_answers in conditions.items():
            answers = all_answers if half is None else all_answers.filter(half=half)
            pooled = {ALL_SETTINGS: pl.lit(value=True), OTHER_ARCHITECTURES: _elsewhere(reference)}
            of_one = {
                each: pl.col("setting") == each for each in sorted(answers["setting"].unique())
            }
            for setting, those in (pooled | of_one).items():
                here = answers.filter(those)
                if here.is_empty():
                    continue
                alarmed = int((here["prediction"] != ABSTAIN).sum())
                value = alarmed / here.height
                low, high = wilson(value, here.height, confidence)
                key = (judged.rules.version, setting, kind, bounds)
                rows.append((*key, alarmed, here.height, value, low, high))
    return pl.DataFrame(rows, schema=FALSE_ALARM_SCHEMA, orient="row")


def _elsewhere(reference: str) -> pl.Expr:
    """Settings of other architectures than the reference's, whatever their optimizer."""
    architecture = pl.col("setting").str.split("-").list.first()
    return architecture != reference.split("-", maxsplit=1)[0]


FALSE_ALARM_SCHEMA: Final = pl.Schema(
    {
        **dict.fromkeys(("version", "setting", "kind", "bounds"), pl.String()),
        **dict.fromkeys(("alarmed", "n"), pl.Int32()),
        **dict.fromkeys(("value", "ci_low", "ci_high"), pl.Float64()),
    }
)
