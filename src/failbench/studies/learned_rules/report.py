"""Report of the learned rules: the list to read, and how stable its first questions are."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.learned_rules.measure import rules_from_table
from failbench.studies.learned_rules.results import SHARES, learned_rules_metrics, signal_shares
from failbench.studies.learned_rules.tables import rules_table, signals_table


def report(rules: pl.DataFrame, tops: pl.DataFrame) -> StudyReport:
    """The rules as a table, and the share of fits that ask each signal first."""
    shares = rounded(signal_shares(tops))
    return StudyReport(
        metrics=learned_rules_metrics(rules.height, shares),
        points={"learned_rules": shares},
        tables=(rules_table(rules_from_table(rules)), signals_table(shares)),
        summary=(Summary.of(shares, "signal", "group", *SHARES),),
    )
