from __future__ import annotations

import copy

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.catalogue import FEATURE_METHODS
from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.reporting.cells import one_decimal, percent, three_decimals, with_interval
from failbench.reporting.labels import METHOD_LABELS, method_label
from failbench.reporting.reported import Reported
from failbench.studies.intervals.rows import ASSUMED, DEVELOPED
from failbench.studies.intervals.tables import Design, headline_table, methods_table, scores_table
from failbench.validation import kept_by_hand

DESIGN = Design(folds=5, repeats=10, runs=228, seeds=3, majority={"value": 20 / 76, "n": 76})


def cells_of(table, method, occurrence=0):
    """The cells of a row by heading and group."""
    rows = [row for row in table.rows if row[0] == METHOD_LABELS[method]]
    keys = [(column.heading, column.group) for column in table.columns]
    return dict(zip(keys, rows[occurrence], strict=True))


def test_percent_has_one_decimal():
    assert percent(0.5714) == "57.1"
    assert with_interval(0.957, 0.87, 1.0) == "95.7 [87.0, 100.0]"


def test_an_interval_can_be_written_in_another_form():
    assert with_interval(612.04, 590.0, 640.26, one_decimal) == "612.0 [590.0, 640.3]"
    assert with_interval(0.6124, 0.5, 0.7, three_decimals) == "0.612 [0.500, 0.700]"


def test_a_row_shows_reported_beside_measured(measured, reported):
    table = methods_table(measured, reported, DESIGN, confidence=0.95)
    assert cells_of(table, "simple_rules") == {
        ("Method", ""): "Simple rules",
        ("Reads", ""): "features, error text",
        ("Accuracy", "reported"): "57.1 [35.2, 79.0]",
        ("Abstention", "reported"): "0.0",
        ("Interpretable", "reported"): "Yes",
        ("Quality", "reported"): "1.0",
        ("Accuracy", "19"): "59.2 [49.2, 69.2]",
        ("Abstention", "19"): "25.0 [20.0, 30.0]",
        ("Accuracy when committed", "19"): "70.0 [60.0, 80.0]",
        ("Macro-F1", "19"): "30.0 [20.0, 40.0]",
        ("Conditions to read", "19"): "22.4 [20.2, 24.6]",
        ("Accuracy", "19 + keywords"): "69.2 [59.2, 79.2]",
        ("n", ""): "76",
    }


def test_methods_come_in_the_papers_order_and_those_told_the_truth_below_the_others(
    measured, reported
):
    for build in (methods_table, headline_table):
        names = [row[0] for row in build(measured, reported, DESIGN, confidence=0.95).rows]
        above, below = names[: names.index(ASSUMED.text)], names[names.index(ASSUMED.text) + 1 :]
        in_paper = [METHOD_LABELS[method] for method in reported.tables.methods.rows]
        in_paper.remove("Simulated human")
        assert above == [*in_paper, "Hybrid, two-way", "Symptom baseline", "Majority category"]
        assert below == ["Simulated human", "Hybrid, three-way"]


def test_methods_whose_rules_were_made_in_view_stand_apart_and_every_caption_says_so(
    measured, reported
):
    for build in (methods_table, headline_table):
        assert DEVELOPED.text not in [row[0] for row in build_rows(build, measured, reported)]
    for method in ("invariants", "ending"):
        measured["19"][method] = measured["19"]["ebm"]
    for build in (methods_table, headline_table):
        names = [row[0] for row in build_rows(build, measured, reported)]
        below = names[names.index(DEVELOPED.text) + 1 : names.index(ASSUMED.text)]
        assert below == ["Invariants"]
        assert names.index("Ending alone") < names.index(DEVELOPED.text)
        table = build(measured, reported, DESIGN, confidence=0.95)
        assert DEVELOPMENT_NOTE in " ".join(table.notes)
    assert DEVELOPMENT_NOTE in scores_table(measured, DESIGN, confidence=0.95).notes[1]


def build_rows(build, measured, reported):
    return build(measured, reported, DESIGN, confidence=0.95).rows


def test_the_majority_category_is_a_share_without_an_interval(measured, reported):
    table = headline_table(measured, reported, DESIGN, confidence=0.95)
    row = next(row for row in table.rows if row[0] == "Majority category")
    assert row == ("Majority category", "nothing", "–", "26.3", "26.3")


def test_the_design_is_read_off_the_predictions():
    predictions = pl.DataFrame(
        {
            "category": ["unknown", "unknown", "optimization"] * 2,
            "scenario": ["a", "b", "c"] * 2,
            "fold": [0, 1, 0] * 2,
            "repeat": [0, 0, 0, 1, 1, 1],
            "run_id": ["a0", "b0", "c1"] * 2,
            "seed": [0, 0, 1] * 2,
        }
    )
    assert Design.of(predictions) == Design(2, 2, 3, 2, {"value": 2 / 3, "n": 3})


def test_a_method_that_was_not_measured_shows_the_papers_figures_alone(measured, reported):
    cells = cells_of(methods_table(measured, reported, DESIGN, confidence=0.95), "mistral_7b")
    assert cells["Accuracy", "reported"] == "77.6 [68.4, 86.8]"
    assert cells["Quality", "reported"] == "3.8"
    assert {cells[key] for key in cells if key[1].startswith("19")} == {"–"}
    assert cells["n", ""] == "–"


def test_a_metric_that_a_method_has_not_is_a_dash(measured, reported):
    cells = cells_of(methods_table(measured, reported, DESIGN, confidence=0.95), "simulated_human")
    assert cells["Conditions to read", "19"] == "–"
    assert cells["Accuracy", "reported"] == "72.0 ± 12.0"


def test_the_hybrids_show_what_the_paper_claims_of_them_outside_its_table(measured, reported):
    table = methods_table(measured, reported, DESIGN, confidence=0.95)
    accuracies = {
        method: cells_of(table, method)["Accuracy", "reported"]
        for method in ("hybrid", "hybrid_two_way", "symptom_baseline")
    }
    assert accuracies == {"hybrid": "87.4", "hybrid_two_way": "87.0", "symptom_baseline": "–"}


def test_a_feature_set_in_which_a_method_was_not_measured_stays_empty(measured, reported):
    del measured["19+keywords"]["ebm"]
    table = methods_table(measured, reported, DESIGN, confidence=0.95)
    assert cells_of(table, "ebm")["Accuracy", "19 + keywords"] == "–"
    assert cells_of(table, "ebm")["Accuracy", "19"] != "–"


def test_the_notes_state_the_confidence_that_the_intervals_have(measured, reported):
    for table in (
        methods_table(measured, reported, DESIGN, confidence=0.9),
        scores_table(measured, DESIGN, confidence=0.9),
    ):
        assert "with 90 % intervals" in table.notes[0]


def test_scores_have_a_row_for_each_feature_set_that_was_measured(measured):
    del measured["19+keywords"]["ebm"]
    table = scores_table(measured, DESIGN, confidence=0.95)
    assert [row[1] for row in table.rows if row[0] == "EBM"] == ["19"]
    assert [row[1] for row in table.rows if row[0] == "LightGBM"] == ["19", "19 + keywords"]
    cells = cells_of(table, "ebm")
    assert cells["Balanced accuracy", ""] == "40.0 [30.0, 50.0]"
    assert cells["Brier score", ""] == "0.612 [0.512, 0.712]"
    assert cells["Its floor", ""] == "0.090 [0.060, 0.120]"
    assert cells["Accuracy if abstaining on unknown is right", ""] == "–"


def test_a_claim_that_a_table_needs_and_that_is_gone_is_named(measured, raw_reported):
    raw = copy.deepcopy(raw_reported)
    del raw["claims"]["hybrid_accuracy"]
    without = kept_by_hand(Reported, raw, "data/reported/paper.yaml")
    with pytest.raises(BadInputError, match=r"claims\.hybrid_accuracy"):
        methods_table(measured, without, DESIGN, confidence=0.95)


def test_a_measured_method_without_a_label_is_refused_by_name(measured, reported):
    measured["19"]["oracle"] = measured["19"]["ebm"]
    for draw in (
        lambda: methods_table(measured, reported, DESIGN, confidence=0.95),
        lambda: scores_table(measured, DESIGN, confidence=0.95),
    ):
        with pytest.raises(BadInputError, match="oracle"):
            draw()


def test_every_method_that_can_be_run_has_a_label():
    for method in FEATURE_METHODS:
        assert method_label(method)
