"""Tables of the learned rules: the list itself, and what its first questions are about."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.methods.learned_rules import SIGNS, LearnedRule
from failbench.reporting.cells import percent
from failbench.reporting.table import Column, Table

RULES_NOTE = (
    "Share: percent of the category among the training runs that the rule holds for; runs: how "
    "many these are. Both are of the training runs, and say nothing of new scenarios. A feature "
    "that a run lacks counts as the median of the training runs."
)
SIGNALS_NOTE = (
    "The paper (Section 4.3) reports the saturation of memory and the volatility of the gradient "
    "norm as the top-level branches. Fits share training runs, so that the shares are descriptions "
    "and no estimates."
)


def rules_table(rules: Sequence[LearnedRule]) -> Table:
    """The list of rules, one a row; exactly one of them holds for each run."""
    rows = tuple(
        (
            str(number),
            " and ".join(f"{name} {SIGNS[side]} {edge:.4g}" for name, side, edge in rule.tests),
            rule.category,
            percent(rule.share),
            str(rule.runs),
        )
        for number, rule in enumerate(rules, start=1)
    )
    return Table(
        "learned_rules",
        (
            Column("Rule"),
            Column("If", align="left"),
            Column("Then", align="left"),
            Column("Share of the category"),
            Column("Runs"),
        ),
        rows,
        "The rules learned from all runs of the study, in the order of the tree's leaves.",
        (RULES_NOTE,),
    )


def signals_table(signals: pl.DataFrame) -> Table:
    """What the rules learned in each fold ask first.

    Parameters
    ----------
    signals
        Rows of ``evaluation.rule_signals.SIGNAL_SCHEMA``.
    """
    rows = tuple(
        (
            row["signal"],
            row["group"].replace("_", " "),
            percent(row["at_root"]),
            percent(row["on_top"]),
        )
        for row in signals.iter_rows(named=True)
    )
    fits = signals["fits"][0] if signals.height else 0
    return Table(
        "learned_signals",
        (
            Column("Signal", align="left"),
            Column("Group", align="left"),
            Column("At the root"),
            Column("At the root or just below"),
        ),
        rows,
        f"What the learned rules ask first: percent of {fits} fits, one a fold and repeat.",
        (SIGNALS_NOTE,),
    )
