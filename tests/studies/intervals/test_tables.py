from __future__ import annotations

import copy

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.catalogue import FEATURE_METHODS
from failbench.reporting.captions import DEVELOPMENT_NOTE
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


def test_the_design_is_read_off_the_predictions():
    predictions = pl.DataFrame(
        {
            "category": ["unknown", "unknown", "optimization"] * 2,
            "scenario": ["a", "b", "c"] * 2,
            "fold": [0, 1, 0] * 2,
            "repeat": [0, 0, 0, 1, 1, 1],
            "run_id": ["a0", "b0", "c1"] * 2,
            "seed": [0, 0, 1] * 2,
            "setting": ["t5-sgd"] * 6,
        }
    )
    design = Design(2, 2, 3, 2, {"value": 2 / 3, "n": 3}, "one setting (t5-sgd)")
    assert Design.of(predictions) == design


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
