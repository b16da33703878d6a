"""What the ablation publishes is made from the saved predictions alone."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.ablation.measure import ABLATION_SCHEMA, METHODS
from failbench.studies.ablation.report import report
from failbench.telemetry import write_parquet
from made_up_ablation import SETTINGS, importance_points
from made_up_reports import assert_same
from stage import read_outputs


@pytest.mark.usefixtures("project_style")
def test_the_report_from_saved_predictions_is_that_from_memory(predictions, reported, tmp_path):
    for (method,), part in predictions.partition_by("method", as_dict=True).items():
        write_parquet(part, tmp_path / f"{method}.parquet")
    saved = read_outputs(tmp_path, METHODS, ABLATION_SCHEMA)
    assert saved.height == predictions.height
    assert_same(
        report(saved, importance_points(), reported, SETTINGS),
        report(predictions, importance_points(), reported, SETTINGS),
        tmp_path,
    )


def test_points_are_published_with_six_decimals_and_tables_beside_the_figure(predictions, reported):
    published = report(predictions, importance_points(), reported, SETTINGS)
    points = published.points["ablation"]
    assert points.select((pl.col("value") == pl.col("value").round(6)).all()).item()
    assert [table.name for table in published.tables] == [
        "ablation",
        "ablation_left_out",
        "superadditivity",
    ]
    assert list(published.figures) == ["ablation"]
