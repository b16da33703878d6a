"""Alarms: when documented rules first fire in recorded runs, and what their peers then say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import ABSTAIN
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.rule_signals import rule_signals
from failbench.neighbours.peers.rules import peer_rules, rules_of

ALARM_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "peer": pl.String(),
        "rule": pl.String(),
        "factor": pl.Float64(),  # of all thresholds of the peer; 1 as documented
        "step": pl.Int32(),  # at which it first fires
    }
)
"""Columns of a table of alarms; its key is all but ``step``. A rule that never fires has no row."""

WATCHED_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "peer": pl.String(),
        "factor": pl.Float64(),
        "detected": pl.Boolean(),
        "step": pl.Int32(),  # of the first alarm; null without one
        "prediction": pl.String(),  # a category or "abstain"
        "conditions": pl.Int32(),
    }
)
"""Columns of what peers with rules say of runs; its key are the first three."""


def alarm_table(telemetry: Telemetry, factors: Sequence[float]) -> pl.DataFrame:
    """Hold every rule that applies against every run."""
    parameters = dict(telemetry.runs.select("run_id", "parameters").iter_rows())
    rules = [rule for rule in peer_rules() if rule.applies]
    rows = []
    for (run,), steps in telemetry.steps.group_by("run_id", maintain_order=True):
        signals = rule_signals(steps.sort("step"), parameters[run])
        for rule in rules:
            firings = rule.first_firings(signals, factors)
            rows += [
                (run, rule.peer, rule.name, factor, step)
                for factor, step in zip(factors, firings, strict=True)
                if step is not None
            ]
    return pl.DataFrame(rows, schema=ALARM_SCHEMA, orient="row").sort(
        "run_id", "peer", "rule", "factor"
    )


def watched(alarms: pl.DataFrame, runs: pl.Series, factors: Sequence[float]) -> pl.DataFrame:
    """What each peer with rules says of each run, if all of its alarms count.

    The category is that of the first alarm that points to one; of alarms of one step that of the
    rule that stands first in the file. A person who checks it must see that the rule's conditions
    hold, and of every other rule of the peer one that does not; without an alarm, of all.
    """
    rules = [rule for rule in peer_rules() if rule.applies]
    said = pl.DataFrame(
        [
            (
                rule.peer,
                rule.name,
                order,
                mapping()[rule.peer, rule.issue].category,
                len(rules_of(rule.peer)) - 1 + len(rule.conditions),
            )
            for order, rule in enumerate(rules)
        ],
        schema={
            "peer": pl.String,
            "rule": pl.String,
            "order": pl.Int32,
            "category": pl.String,
            "conditions": pl.Int32,
        },
        orient="row",
    )
    ordered = alarms.join(said, on=["peer", "rule"]).sort("step", "order")
    first = ordered.group_by("run_id", "peer", "factor", maintain_order=True).agg(
        step=pl.col("step").first(),
        prediction=pl.col("category").drop_nulls().first(),
        conditions=pl.coalesce(
            pl.col("conditions").filter(pl.col("category").is_not_null()).first(),
            pl.col("conditions").first(),
        ),
    )
    peers = said.group_by("peer", maintain_order=True).agg(rules=pl.len().cast(pl.Int32))
    every = (
        pl.DataFrame({"run_id": runs})
        .join(peers, how="cross")
        .join(pl.DataFrame({"factor": list(factors)}, schema={"factor": pl.Float64}), how="cross")
    )
    return (
        every.join(first, on=["run_id", "peer", "factor"], how="left")
        .select(
            "run_id",
            "peer",
            "factor",
            pl.col("step").is_not_null().alias("detected"),
            "step",
            pl.col("prediction").fill_null(str(ABSTAIN)),
            pl.coalesce("conditions", "rules").alias("conditions"),
        )
        .cast(WATCHED_SCHEMA)
        .sort("run_id", "peer", "factor")
    )
