from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest

from failbench.methods.signal_groups import signal_groups
from failbench.reporting.markup import render
from failbench.studies.importance.figure import importance_picture, shapes_picture
from failbench.studies.importance.measure import IMPORTANCE_SETS, TABLE_SIX
from failbench.studies.importance.removal import removal
from failbench.studies.importance.results import ImportanceSettings, LeadingShare, SourceAgreement
from failbench.studies.importance.shapes import SHAPE_SCHEMA
from failbench.studies.importance.tables import BUILT_IN, importance_tables
from failbench.vocabulary import CATEGORIES
from made_up_importance import ablation_predictions
from printed_pictures import assert_printable, assert_repeats

SETTINGS = ImportanceSettings(
    repeats=5,
    replacements=20,
    source="training_fold",
    shapes=4,
    resamples=1000,
    confidence=0.95,
    seed=0,
)
AGREEMENT = {
    TABLE_SIX: {
        "random_forest": SourceAgreement(
            rank_correlation=0.987, ratio=0.93, largest_difference=0.021, tested=15.2, n=37
        )
    }
}
LEADING = {TABLE_SIX: LeadingShare(0.8, 0.02, 25)}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rows = []
    for feature_set, columns in IMPORTANCE_SETS.items():
        members = signal_groups(columns)
        named = [("feature", name, group) for group, names in members.items() for name in names]
        named += [("group", group, group) for group in members]
        rows += [
            {
                "feature_set": feature_set,
                "method": method,
                "kind": kind,
                "name": name,
                "group": group,
                "value": 0.001 * number - 0.01,
                "ci_low": 0.001 * number - 0.03,
                "ci_high": 0.001 * number + 0.02,
                "n": 76,
                "own": 0.05,
                "own_sd": 0.01,
                "own_raw": 0.3,
                "fits": 25,
                "share": None if method == "ebm" else 0.1,
            }
            for method in BUILT_IN
            for number, (kind, name, group) in enumerate(named)
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="module")
def shapes() -> pl.DataFrame:
    ranges = {"max_loss": (0.0, 4.0), "gradient_norm_variance": (1e-3, 1e6), "oov_rate": (0.0, 1.0)}
    return pl.DataFrame(
        [
            {
                "rank": rank,
                "feature": feature,
                "contribution": 1 / rank,
                "category": category,
                "low": low,
                "high": high,
                "score": 0.1 * number,
                "sd": 0.05,
                "runs": 76,
            }
            for rank, (feature, (lowest, highest)) in enumerate(ranges.items(), start=1)
            for number, category in enumerate(CATEGORIES)
            for low, high in ((lowest, highest / 2), (highest / 2, highest))
        ],
        schema=SHAPE_SCHEMA,
    )


@pytest.fixture
def tables(table, reported):
    return importance_tables(
        table, AGREEMENT, LEADING, removal(ablation_predictions()), reported, SETTINGS
    )


def test_the_papers_shares_stand_beside_the_groups_of_its_features(tables):
    groups, _ = tables
    cells = {(line[0], line[1]): line[2] for line in groups.rows}
    assert cells["19 + keywords + trend", "training dynamics"] == "48.0"
    assert cells["19 + keywords + trend", "error text"] == "3.0"
    assert cells["19 + keywords + trend", "configuration"] == "below 1.0"
    assert cells["19 + keywords + trend", "vocabulary"] == "–"
    assert cells["19", "training dynamics"] == "–"


def test_the_error_texts_drop_stands_beside_what_removing_it_costs(tables, table):
    by_group, _ = tables
    (row,) = (row for row in by_group.rows if row[:2] == ("19 + keywords + trend", "error text"))
    drop = row[3].split(" ")[0].removeprefix("+")
    note = by_group.notes[-1]
    assert f"costs a fitted forest {drop} points" in note
    assert "changes it by −25.0 (table ablation_left_out, 2 repeats)" in note


def test_the_sums_that_do_not_fit_are_printed(tables):
    note = " ".join(tables[0].notes)
    assert "add up to 76.0 and one that is below 1.0" in note
    assert "to 42.0, not 48.0" in note
    assert "98.5 % together" in note
    assert "80.0 ± 2.0 %" in note


def test_a_row_has_drop_and_shares_of_both_methods(tables):
    line = next(line for line in tables[1].rows if line[0] == "max_gradient_norm")
    assert line[1] == "18.0"
    assert line[3:5] == ("10.0", "5.0 ± 1.0")
    assert line[6:8] == ("–", "5.0 ± 1.0")
    assert line[-2:] == ("76", "training dynamics")
    assert set(render(tables[1])) == {"md", "tex", "typ"}


def test_how_far_the_sources_agree_is_said(tables):
    note = tables[0].notes[2]
    assert "about 15" in note
    assert "0.99 for the forest" in note
    assert "0.93 of the sum, of which 0.93" in note
    assert "2.1 points" in note


@pytest.mark.usefixtures("project_style")
def test_the_figure_has_a_row_a_feature_and_the_keywords_in_one(table, reported):
    left, right = assert_printable(importance_picture(table, reported)).axes
    assert len(left.get_yticklabels()) == 7
    assert len(right.get_yticklabels()) == 19 + 1 + 1


@pytest.mark.usefixtures("project_style")
def test_shapes_have_a_panel_a_feature_and_logarithms_where_values_span_decades(shapes):
    figure = assert_printable(shapes_picture(shapes))
    drawn = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left").split(" (")[0] for axes in drawn] == [
        "max loss",
        "gradient norm variance",
        "oov rate",
    ]
    assert [axes.get_xscale() for axes in drawn] == ["linear", "log", "linear"]


@pytest.mark.usefixtures("project_style")
def test_values_that_span_decades_on_both_sides_of_zero_are_linear_around_it(shapes):
    edges = [-0.02, -0.01, 0.005, 0.01, 0.02, 400.0]
    rows = shapes.filter(pl.col("feature") == "max_loss").drop("low", "high").unique("category")
    crossing = pl.concat(
        rows.with_columns(low=pl.lit(a), high=pl.lit(b)) for a, b in pairwise(edges)
    )
    (axes,) = (panel for panel in shapes_picture(crossing).figure().axes if panel.axison)
    assert axes.get_xscale() == "symlog"


@pytest.mark.usefixtures("project_style")
def test_the_same_points_give_the_same_bytes(table, shapes, reported, tmp_path):
    assert_repeats(importance_picture(table, reported), tmp_path)
    assert_repeats(shapes_picture(shapes), tmp_path)
