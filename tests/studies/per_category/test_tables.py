from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.scenarios import COUNTS
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.per_category.results import MERGED
from failbench.studies.per_category.tables import confusion_of_rules, scores_by_category
from failbench.vocabulary import ANSWERS, CATEGORIES

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=10, seed=0
)


def estimate(value, n):
    return {"value": value, "ci_low": value - 0.1, "ci_high": value + 0.1, "n": n}


@pytest.fixture
def measured():
    scores = {
        f"{score}_{category}": estimate(value, COUNTS[category])
        for score, value in (("recall", 0.4), ("f1", 0.5))
        for category in CATEGORIES
    }
    return {"19": {"ebm": scores, "improved_rules": scores}}


@pytest.fixture
def precisions():
    named = {"precision_optimization": estimate(0.6, 13)}
    return {"19": {"ebm": named, "improved_rules": {}}}


@pytest.fixture
def confusions():
    return pl.DataFrame(
        [
            {
                "feature_set": "19",
                "method": "improved_rules",
                "category": category,
                "answer": answer,
                "scenarios": float(column),
                "share": 0.1,
            }
            for category in CATEGORIES
            for column, answer in enumerate((*ANSWERS, MERGED))
        ]
    )


def rows_of(table, score):
    return {row[1]: row[2:] for row in table.rows if row[0] == score}


def test_every_score_has_a_row_per_method_and_the_papers_row_first(measured, precisions, reported):
    table = scores_by_category(measured, precisions, reported, SETTINGS)
    for score in ("Precision", "Recall", "F1"):
        assert list(rows_of(table, score)) == ["Classifiers, reported", "Improved rules", "EBM"]
    papers = rows_of(table, "F1")["Classifiers, reported"]
    assert papers[-1] == "83.0 [60.0, 100.0]"
    assert rows_of(table, "Recall")["EBM"][0] == "40.0 [30.0, 50.0]"
    assert table.columns[2].heading == "Memory hardware (n = 20)"


def test_a_precision_says_how_many_scenarios_it_is_of_and_none_is_a_dash(
    measured, precisions, reported
):
    table = scores_by_category(measured, precisions, reported, SETTINGS)
    assert rows_of(table, "Precision")["EBM"] == ("–", "60.0 [50.0, 70.0], n = 13", "–", "–", "–")
    assert set(rows_of(table, "Precision")["Improved rules"]) == {"–"}


def test_the_note_says_when_wilsons_interval_is_taken(measured, precisions, reported):
    table = scores_by_category(measured, precisions, reported, SETTINGS)
    assert "from 90 % upwards" in table.notes[0]
    assert "among fewer than 10 scenarios" in table.notes[0]


def test_a_method_without_a_label_is_refused(measured, precisions, reported):
    measured["19"]["oracle"] = measured["19"]["ebm"]
    with pytest.raises(BadInputError, match="oracle"):
        scores_by_category(measured, precisions, reported, SETTINGS)


def test_confusions_stand_beside_the_papers_with_abstentions_apart_and_merged(
    confusions, measured, reported
):
    table = confusion_of_rules(confusions, measured, reported, confidence=0.95)
    headings = [(column.heading, column.group) for column in table.columns]
    cells = dict(zip(headings, table.rows[2], strict=True))
    assert cells["Actual", ""] == "Data pipeline"
    assert cells["optim.", "reported"] == "5"
    assert cells["both", "reported"] == "1"
    assert cells["recall", "reported"] == "61.1"
    assert cells["unknown", "measured"] == "4.0"
    assert cells["abstained", "measured"] == "5.0"
    assert cells["both", "measured"] == "6.0"
    assert cells["recall", "measured"] == "40.0 [30.0, 50.0]"
    assert cells["n", "measured"] == "18"


def test_the_note_holds_the_papers_table_against_its_text(confusions, measured, reported):
    note = confusion_of_rules(confusions, measured, reported, confidence=0.95).notes[1]
    assert "has 51 of 76 right, 67.1 %, and 8 cases in its last column" in note
    assert "61.8 % right and 30.3 % abstained, which would be 47 and 23 cases" in note


def test_a_method_that_was_not_run_leaves_dashes(confusions, reported):
    other = confusions.with_columns(method=pl.lit("ebm"))
    table = confusion_of_rules(other, {}, reported, confidence=0.95)
    assert set(table.rows[0][7:15]) == {"–"}
