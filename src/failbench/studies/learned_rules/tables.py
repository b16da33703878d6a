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


RULE_COLUMNS = (
    Column("Rule", cell=lambda row: str(row[0])),
    Column("If", align="left", cell=lambda row: _tests(row[1])),
    Column("Then", align="left", cell=lambda row: row[1].category),
    Column("Share of the category", cell=lambda row: percent(row[1].share)),
    Column("Runs", cell=lambda row: str(row[1].runs)),
)
"""Cells of a rule and its number."""

SIGNAL_COLUMNS = (
    Column("Signal", align="left", cell=lambda row: row["signal"]),
    Column("Group", align="left", cell=lambda row: row["group"].replace("_", " ")),
    Column("At the root", cell=lambda row: percent(row["at_root"])),
    Column("At the root or just below", cell=lambda row: percent(row["on_top"])),
)


def rules_table(rules: Sequence[LearnedRule]) -> Table:
    """The list of rules, exactly one of which holds for each run."""
    return Table.of(
        "learned_rules",
        RULE_COLUMNS,
        enumerate(rules, start=1),
        "The rules learned from all runs of the study, in the order of the tree's leaves.",
        (RULES_NOTE,),
    )


def _tests(rule: LearnedRule) -> str:
    return " and ".join(f"{name} {SIGNS[side]} {edge:.4g}" for name, side, edge in rule.tests)


def signals_table(signals: pl.DataFrame) -> Table:
    """What the rules learned in each fold ask first."""
    fits = signals["fits"][0] if signals.height else 0
    return Table.of(
        "learned_signals",
        SIGNAL_COLUMNS,
        signals.iter_rows(named=True),
        f"What the learned rules ask first: percent of {fits} fits, one a fold and repeat.",
        (SIGNALS_NOTE,),
    )
