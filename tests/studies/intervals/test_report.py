from __future__ import annotations

import polars as pl
import pytest

from failbench.statistics.costs import UnitCosts
from failbench.statistics.method_intervals import IntervalSettings
from failbench.studies.intervals.report import report
from made_up import made_up_predictions

SETTINGS = IntervalSettings(
    resamples=1000,
    confidence=0.9,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
COSTS = UnitCosts(rules=0.1, classifier=0.3, human=1.0)


@pytest.fixture(scope="module")
def of_the_forest(reported):
    predictions = made_up_predictions().with_columns(method=pl.lit("random_forest"))
    return report(predictions, reported, SETTINGS, COSTS)


def test_metrics_points_tables_and_summary_are_of_the_same_estimates(of_the_forest):
    accuracy = of_the_forest.metrics["19"]["random_forest"]["accuracy"]
    (row,) = of_the_forest.points["intervals"].filter(metric="accuracy").to_dicts()
    assert row["value"] == round(accuracy["value"], 6)
    assert row["estimand"]
    headline, methods, scores = of_the_forest.tables
    text = f"{100 * accuracy['value']:.1f} [{100 * accuracy['ci_low']:.1f}, "
    for table in (headline, methods):
        assert any(text in cell for cells in table.rows for cell in cells)
    assert [cells[0] for cells in scores.rows] == ["Random forest"]
    assert of_the_forest.summary[0].rows == [
        ("19", "random_forest", *(accuracy[key] for key in ("value", "ci_low", "ci_high", "n")))
    ]


def test_the_tables_state_the_confidence_of_the_settings(of_the_forest):
    for table in of_the_forest.tables:
        assert "with 90 % intervals" in table.notes[0]
