"""The report of generalization, from made-up predictions."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.figure import PANELS
from failbench.studies.generalization.report import report
from failbench.studies.generalization.results import ESTIMATED, generalization_table
from made_up_studies import made_up_studies
from printed_pictures import marks_of

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


@pytest.fixture(scope="module")
def made(reported):
    return report(made_up_studies(), reported, SETTINGS)


def test_metrics_are_nested_by_study_feature_set_method_and_metric(made):
    assert set(made.metrics) == set(ESTIMATED)
    rate = made.metrics[LEFT_OUT]["19"]["random_forest"]["macro_f1"]
    assert set(rate) == {"value", "ci_low", "ci_high", "n"}


def test_points_are_the_table_at_six_decimals_under_the_columns_that_are_published(made):
    (points,) = made.points.values()
    table = generalization_table(made_up_studies(), SETTINGS)
    assert points.columns[:5] == ["study", "feature_set", "method", "metric", "interval"]
    assert points.equals(table.with_columns(pl.selectors.float().round(6)))
    assert not points.equals(table)


def test_what_is_published_bears_the_name_of_the_study(made):
    assert set(made.points) == set(made.figures) == {"generalization"}
    assert [table.name for table in made.tables] == ["generalization"]


@pytest.mark.usefixtures("project_style")
def test_the_figure_is_drawn_from_the_published_points(made):
    axes = made.figures["generalization"].figure().axes[list(PANELS).index(LEFT_OUT)]
    points = made.points["generalization"].filter(
        pl.col("metric") == "accuracy", pl.col("study") == LEFT_OUT
    )
    drawn = {value for marks in marks_of(axes) for value in marks.get_xdata()}
    assert {100 * value for value in points["value"]} <= drawn


@pytest.mark.usefixtures("project_style")
def test_methods_whose_rules_were_made_in_view_stand_below_and_are_never_called_the_best(reported):
    studies = made_up_studies(("random_forest", "invariants", "simulated_human"))
    right = pl.when(pl.col("method") == "invariants").then("category").otherwise("prediction")
    made = report(studies.with_columns(prediction=right), reported, SETTINGS)
    picture = made.figures["generalization"]
    assert "(random forest)" in picture.title
    assert "(invariants)" not in picture.title
    assert picture.title.endswith("(*: by rules made with these scenarios in view)")
    rows = [label.get_text() for label in picture.figure().axes[0].get_yticklabels()]
    assert rows == ["Random forest", "Invariants*", "Simulated human"]
    assert DEVELOPMENT_NOTE in made.tables[0].notes
