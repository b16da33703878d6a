from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import LEFT_OUT, NESTED_CV, POOLED
from failbench.reporting.cells import with_interval
from failbench.reporting.markup import markdown
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.style import REPORTED
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.figure import PANELS, generalization_picture
from failbench.studies.generalization.results import generalization_table
from failbench.studies.generalization.tables import SHOWN_STUDIES, studies_table
from made_up_studies import made_up_studies
from printed_pictures import assert_printable, assert_repeats, drawn, marks_of

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
    assert set(PANELS) < set(SHOWN_STUDIES)
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
def test_figure_has_a_panel_per_study_with_the_methods_own_marks(table, reported):
    figure = assert_printable(generalization_picture(table, reported))
    for axes, study in zip(figure.axes, PANELS, strict=True):
        rates = table.filter(
            pl.col("study") == study, pl.col("metric") == "accuracy", pl.col("feature_set") == "19"
        )
        for line, method in zip(marks_of(axes), ("simple_rules", "random_forest"), strict=True):
            style = METHOD_STYLES[method]
            assert (line.get_marker(), line.get_color()) == (style.marker, style.colour)
            of_method = rates.filter(pl.col("method") == method)
            assert line.get_xdata() == pytest.approx(100 * of_method["value"].to_numpy())
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Simple rules", "Random forest"]


@pytest.mark.usefixtures("project_style")
def test_figure_has_the_papers_accuracies_beside_the_main_study_alone(table, reported):
    figure = drawn(generalization_picture(table, reported))
    first, *others = (
        [line.get_xdata()[0] for line in axes.lines if line.get_marker() == REPORTED.marker]
        for axes in figure.axes
    )
    assert first == pytest.approx([57.1, 95.7])
    assert not any(others)


def test_the_finding_is_of_the_best_method_that_is_not_handed_the_category(table, reported):
    accuracy = (pl.col("study") == LEFT_OUT) & (pl.col("metric") == "accuracy")
    best = table.with_columns(
        value=pl.when(accuracy & (pl.col("method") == "simple_rules"))
        .then(0.777)
        .when(accuracy)
        .then(0.2)
        .otherwise("value")
    )
    assert "77.7 % of new scenarios (simple rules)" in generalization_picture(best, reported).title
    told = best.with_columns(method=pl.col("method").replace("simple_rules", "simulated_human"))
    assert "20.0 % of new scenarios (random forest)" in (
        generalization_picture(told, reported).title
    )


def test_a_method_that_the_main_study_alone_has_is_not_drawn(table, reported):
    alone = table.filter(pl.col("study") == NESTED_CV).with_columns(method=pl.lit("raw_text"))
    axes = generalization_picture(pl.concat([table, alone]), reported).figure().axes[0]
    assert "Raw error text" not in {label.get_text() for label in axes.get_yticklabels()}


@pytest.mark.usefixtures("project_style")
def test_figure_is_the_same_to_the_byte(table, reported, tmp_path):
    assert_repeats(generalization_picture(table, reported), tmp_path)


def test_method_without_a_label_is_refused(table, reported):
    other = table.with_columns(method=pl.lit("oracle"))
    for show in (
        lambda: generalization_picture(other, reported).figure(),
        lambda: studies_table(other, confidence=0.95),
    ):
        with pytest.raises(BadInputError, match="has no label"):
            show()
