from __future__ import annotations

import polars as pl

from equal_reports import assert_equal_reports
from failbench.prediction.splits import make_splits
from failbench.studies.controls.measure import control_predictions, permuted_accuracies
from failbench.studies.controls.planted import planted_predictions
from failbench.studies.controls.report import report
from failbench.studies.controls.settings import PERMUTED_LABELS
from failbench.telemetry import write_parquet
from made_up_controls import SETTINGS, runs_of, table_of


def test_a_report_of_saved_measurements_is_that_of_those_in_memory(failures, successes, tmp_path):
    table = table_of(signal=0.5)
    tables = {PERMUTED_LABELS: table, "twins": table}
    predictions = control_predictions(tables, runs_of(table), SETTINGS)
    splits = make_splits(failures.select("scenario", "category").unique(), 2, 1, seed=0)
    measured = (
        predictions,
        permuted_accuracies(tables, SETTINGS),
        planted_predictions(failures, successes, splits, seed=0),
        predictions.drop("control"),
    )
    saved = []
    for number, rows in enumerate(measured):
        write_parquet(rows, tmp_path / f"{number}.parquet")
        saved.append(pl.read_parquet(tmp_path / f"{number}.parquet"))
    memory, disk = report(*measured, SETTINGS), report(*saved, SETTINGS)
    assert_equal_reports(memory, disk)
    assert set(memory.metrics) == {PERMUTED_LABELS, "twins", "raw_twins", "leak_test"}
    assert memory.metrics["leak_test"]["identical_predictions"] is True
