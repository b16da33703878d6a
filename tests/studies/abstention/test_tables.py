from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.scenarios import COUNTS
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.abstention.figure import abstention_picture
from failbench.studies.abstention.methods_table import methods_table
from failbench.studies.abstention.tables import reasons_table, thresholds_table
from printed_pictures import assert_printable, assert_repeats

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=10, seed=0
)
ASKED = {"tau": 0.6, "target": 0.9}


def row(part, key, metric, value, n=76, spread=0.1):
    return {
        "part": part,
        "key": key,
        "metric": metric,
        "value": value,
        "ci_low": value - spread,
        "ci_high": value + spread,
        "n": n,
    }


@pytest.fixture
def estimates():
    rows = []
    for key, n in {"all": 76, **COUNTS}.items():
        if key == "unknown":
            rows.append(row("reasons", key, "abstention_rate", 0.0, n))
            continue
        rows.append(row("reasons", key, "abstention_rate", 0.5, n))
        shares = {"missing": 0.05, "conflict": 0.3, "low_confidence": 0.65}
        rows += [row("reasons", key, f"share_{name}", share, n) for name, share in shares.items()]
    for key, part in (("as_measured", "chosen"), ("per_fold", "chosen"), ("0.30", "thresholds")):
        rows.append(row(part, key, "coverage", 0.4))
        rows.append(row(part, key, "accuracy", 0.3))
        rows.append(row(part, key, "accuracy_when_committed", 0.75))
    rows.append(row("thresholds", "0.90", "coverage", 0.0))
    rows.append(row("thresholds", "0.90", "accuracy", 0.0))
    rows.append(row("chosen", "per_fold", "folds_with_a_threshold", 0.96, 50, 0.0))
    rows.append(row("chosen", "per_fold", "tau", 0.8, 48))
    return pl.DataFrame(rows)


def test_reasons_stand_below_the_papers(estimates, reported):
    table = reasons_table(estimates, reported, SETTINGS)
    assert table.rows[0] == ("All, reported", "30.3", "65.0", "25.0", "10.0", "76")
    assert table.rows[1] == (
        "All, measured",
        "50.0 [40.0, 60.0]",
        "65.0 [55.0, 75.0]",
        "30.0 [20.0, 40.0]",
        "5.0 [-5.0, 15.0]",
        "76",
    )
    assert table.rows[2][0] == "Memory hardware"


def test_a_category_without_abstentions_has_no_reasons(estimates, reported):
    table = reasons_table(estimates, reported, SETTINGS)
    assert table.rows[-1] == ("Unknown", "0.0 [-10.0, 10.0]", "–", "–", "–", "8")


def test_the_note_counts_what_the_reported_shares_would_be(estimates, reported):
    note = reasons_table(estimates, reported, SETTINGS).notes[1]
    assert "Of the 23 cases that 30.3 % of 76 are" in note
    assert "14.95 and 5.75 and 2.30 cases" in note


def test_methods_that_abstain_stand_side_by_side_and_those_made_in_view_are_named(estimates):
    rows = [
        row("methods", method, metric, value)
        for method, coverage in (("invariants", 0.9), ("improved_rules", 0.4))
        for metric, value in (
            ("coverage", coverage),
            ("accuracy_when_committed", 0.75),
            ("accuracy", 0.3),
            ("share_missing", 1.0),
        )
    ]
    table = methods_table(pl.concat([estimates, pl.DataFrame(rows)]), SETTINGS)
    assert [line[:2] for line in table.rows] == [
        ("Improved rules", "40.0 [30.0, 50.0]"),
        ("Invariants", "90.0 [80.0, 100.0]"),
    ]
    assert table.rows[1][4:] == ("76", "–", "–", "100.0 [90.0, 110.0]")
    assert DEVELOPMENT_NOTE in table.notes


def test_thresholds_stand_below_the_papers_rates(estimates, reported):
    table = thresholds_table(estimates, reported, **ASKED, confidence=0.95)
    assert table.rows[0] == ("Reported", "0.60", "69.7", "88.7", "61.8", "76")
    assert [line[:2] for line in table.rows[1:]] == [
        ("Measured", "0.60"),
        ("Chosen for 90 %", "0.80 (0.70 to 0.90)"),
        ("Sweep", "0.30"),
        ("Sweep", "0.90"),
    ]
    assert table.rows[3][3] == "75.0 [65.0, 85.0]"
    assert table.rows[4][3] == "–"
    assert "48 of the folds have such a tau" in table.notes[0]


def test_where_no_fold_found_a_threshold_the_table_has_a_dash(estimates, reported):
    without = estimates.filter(pl.col("metric") != "tau")
    table = thresholds_table(without, reported, **ASKED, confidence=0.95)
    assert table.rows[2][:2] == ("Chosen for 90 %", "–")


@pytest.mark.usefixtures("project_style")
def test_the_figure_has_a_bar_for_the_paper_and_for_each_category_that_is_abstained_from(
    estimates, reported
):
    left, right = abstention_picture(estimates, reported, **ASKED).figure().axes
    labels = [label.get_text() for label in left.get_yticklabels()]
    assert labels[:2] == ["All, reported\n23 of 76", "All, measured\n38.0 of 76"]
    assert len(labels) == 6
    widths = [patch.get_width() for patch in left.patches]
    assert sum(widths) == pytest.approx(600)
    committed, coverage, *_ = right.lines
    assert committed.get_xdata().tolist() == [0.3]
    assert coverage.get_ydata() == pytest.approx([40, 0])


@pytest.mark.usefixtures("project_style")
def test_the_figure_can_be_printed_and_repeats(estimates, reported, tmp_path):
    picture = abstention_picture(estimates, reported, **ASKED)
    assert_printable(picture)
    assert_repeats(picture, tmp_path)
