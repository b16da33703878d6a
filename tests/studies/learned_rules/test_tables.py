from __future__ import annotations

import polars as pl

from failbench.methods.learned_rules import LearnedRule
from failbench.reporting.markup import render
from failbench.studies.learned_rules.tables import rules_table, signals_table

RULES = (
    LearnedRule((("max_loss", "above", 8.12345), ("oov_rate", "below", 0.5)), "unknown", 0.75, 4),
    LearnedRule((("max_loss", "below", 8.12345),), "optimization", 1.0, 9),
)


def test_a_rule_is_a_row_with_its_tests_category_share_and_runs():
    table = rules_table(RULES)
    assert table.rows == (
        ("1", "max_loss > 8.123 and oov_rate <= 0.5", "unknown", "75.0", "4"),
        ("2", "max_loss <= 8.123", "optimization", "100.0", "9"),
    )


def test_signals_are_shown_in_percent_of_the_fits_that_ask_them_first():
    signals = pl.DataFrame(
        {
            "signal": ["peak_memory"],
            "group": ["memory"],
            "subgroup": ["level"],
            "at_root": [0.5],
            "on_top": [0.98],
            "fits": [50],
        }
    )
    table = signals_table(signals)
    assert table.rows == (("peak_memory", "memory", "50.0", "98.0"),)
    assert "50 fits" in table.caption


def test_both_tables_are_written_in_every_language():
    assert set(render(rules_table(RULES))) == {"md", "tex", "typ"}
