from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import NESTED_CV, POOLED
from failbench.reporting.cells import with_interval
from failbench.reporting.markup import markdown
from failbench.reporting.style import save_svg
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.figure import FONT, MARKS, WIDTH, draw_generalization
from failbench.studies.generalization.results import generalization_table
from failbench.studies.generalization.tables import SHOWN_STUDIES, studies_table
from made_up_studies import made_up_studies

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
METHODS = ("random_forest", "simple_rules")


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    predictions = made_up_studies(METHODS)
    wider = predictions.filter(pl.col("study") == POOLED)
    more = wider.with_columns(feature_set=pl.lit("19+keywords"))
    return generalization_table(pl.concat([predictions, more]), SETTINGS)


def shown(table: pl.DataFrame, study: str, metric: str, method: str = "random_forest") -> str:
    estimate = table.row(
        by_predicate=(pl.col("study") == study)
        & (pl.col("metric") == metric)
        & (pl.col("method") == method)
        & (pl.col("feature_set") == "19"),
        named=True,
    )
    return with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"])


def test_studies_stand_side_by_side_with_scenarios_and_runs(table):
    shown_table = studies_table(table, confidence=0.95)
    rows = {row[:2]: row[2:] for row in shown_table.rows}
    assert list(rows) == [
        ("Simple rules", "19"),
        ("Simple rules", "19 + keywords"),
        ("Random forest", "19"),
        ("Random forest", "19 + keywords"),
    ]
    *cells, gain, scenarios, runs, repeats = rows["Random forest", "19"]
    assert cells == [shown(table, study, "accuracy") for study in SHOWN_STUDIES]
    assert set(MARKS) < set(SHOWN_STUDIES)
    assert repeats == "1 / 1 / 1 / 1 / 1"
    assert gain == shown(table, "known_scenarios", "gain_of_known_scenarios")
    assert (scenarios, runs) == ("40", "80 / 240")
    assert rows["Random forest", "19 + keywords"][0] == "–"
    assert "95 % intervals" in markdown(shown_table)


def test_the_baseline_that_diagnoses_nothing_stands_beside_the_forests_gain(table):
    assert "itself" not in studies_table(table, confidence=0.95).notes[1]
    both = table.with_columns(method=pl.col("method").replace("simple_rules", "symptom_baseline"))
    note = studies_table(both, confidence=0.95).notes[1]
    gain = "gain_of_known_scenarios"
    baseline = shown(both, "known_scenarios", gain, "symptom_baseline")
    forest = shown(both, "known_scenarios", gain)
    assert f"gains {baseline} points itself, beside the random forest's {forest}" in note


@pytest.mark.usefixtures("project_style")
def test_figure_has_a_mark_per_study_at_each_methods_accuracy(table):
    figure = draw_generalization(table)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "Simple rules",
        "Random forest",
    ]
    for container, (study, mark) in zip(axes.containers, MARKS.items(), strict=True):
        line = container.lines[0]
        assert (line.get_marker(), line.get_color()) == (mark.marker, mark.colour)
        drawn = table.filter(
            pl.col("study") == study, pl.col("metric") == "accuracy", pl.col("feature_set") == "19"
        )
        assert sorted(line.get_xdata()) == sorted(drawn["value"])
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [mark.label for mark in MARKS.values()]


def test_a_method_that_the_main_study_alone_has_is_not_drawn(table):
    alone = table.filter(pl.col("study") == NESTED_CV).with_columns(method=pl.lit("raw_text"))
    (axes,) = draw_generalization(pl.concat([table, alone])).axes
    assert "Raw error text" not in {label.get_text() for label in axes.get_yticklabels()}


@pytest.mark.usefixtures("project_style")
def test_figure_fits_one_column_with_letters_that_can_be_read(table, tmp_path):
    figure = draw_generalization(table)
    assert figure.get_figwidth() == WIDTH <= 3.5
    assert FONT >= 6
    figure.draw_without_rendering()
    (axes,) = figure.axes
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    sizes = [text.get_fontsize() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert min(sizes) >= 6
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    save_svg(draw_generalization(table), first)
    save_svg(draw_generalization(table), second)
    assert first.read_bytes() == second.read_bytes()


def test_studies_are_told_apart_without_colours():
    assert len({mark.marker for mark in MARKS.values()}) == len(MARKS)
    assert len({mark.colour for mark in MARKS.values()}) == len(MARKS)


@pytest.mark.parametrize("draw", [draw_generalization, lambda t: studies_table(t, confidence=0.95)])
def test_method_without_a_label_is_refused(table, draw):
    other = table.with_columns(method=pl.lit("oracle"))
    with pytest.raises(BadInputError, match="has no label"):
        draw(other)
