from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.controls.measure import control_predictions, require_categories
from failbench.studies.controls.settings import CONTROLS, PERMUTED_LABELS
from made_up_controls import SETTINGS, runs_of, table_of


def test_a_control_without_a_category_is_refused_because_chance_would_differ():
    whole = table_of(signal=0.0)
    require_categories({"twins": whole})
    four = replace(whole, categories=tuple("data_pipeline" for _ in whole.categories))
    with pytest.raises(BadInputError, match=r"controls: twins: has no scenario of memory_hardware"):
        require_categories({"twins": four})


def test_answers_of_controls_are_rows_of_predictions_with_the_fold_that_tested_them():
    table = table_of(signal=4.0)
    settings = SETTINGS.model_copy(update={"repeats": 2})
    predictions = control_predictions(
        {PERMUTED_LABELS: table, "leak": table}, runs_of(table), settings
    )
    assert predictions.drop("control").schema == PREDICTION_SCHEMA
    assert set(predictions["control"]) == {"leak"}
    assert set(predictions["study"]) == {CONTROLS}
    for _, repeat in predictions.group_by("repeat"):
        assert sorted(repeat["run_id"]) == sorted(table.run_ids)
    folds = predictions.group_by("repeat", "scenario").agg(pl.col("fold").n_unique())
    assert folds["fold"].unique().to_list() == [1]
    right = predictions.filter(pl.col("prediction") == pl.col("category"))
    assert right.height / predictions.height > 0.6
