"""Predictions from raw telemetry stand beside all others, under the same splits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from controls import ControlSettings, balanced_accuracy
from failbench.base.params import PARAMS
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT, feature_table, raw_table
from failbench.methods.raw_telemetry import RawTelemetrySettings
from failbench.prediction.splits import make_splits
from failbench.statistics.settings import read_with_statistics
from made_up_telemetry import made_up_scenarios, made_up_telemetry
from shared.controls import CHANCE
from shared.raw_telemetry import raw_predictions

SETTINGS = RawTelemetrySettings(
    kernels=84, inner_folds=2, inverse_penalty=(1.0, 100.0), max_iterations=1000
)


@pytest.fixture(scope="module")
def failures() -> pl.DataFrame:
    """Errors name the category; of model_software nothing is said."""
    telemetry = made_up_telemetry()
    named = pl.col("scenario").str.extract("^(memory|optimization|data|unknown)")
    runs = telemetry.runs.with_columns(error_message=named)
    table = raw_table(Telemetry(runs, telemetry.steps), made_up_scenarios())
    return table.filter(pl.col("kind") == "failure")


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 2, 2, seed=0)


@pytest.fixture(scope="module")
def predicted(failures, splits):
    table = feature_table(made_up_telemetry(), made_up_scenarios())
    successes = table.filter(pl.col("kind") == "success")

    def predict(method: str, runs: pl.DataFrame = failures) -> pl.DataFrame:
        return raw_predictions(runs, successes, splits, method, SETTINGS, seed=0)

    return predict


def test_every_run_is_predicted_in_the_fold_of_its_scenario_under_every_feature_set(
    predicted, failures, splits
):
    predictions = predicted("raw_telemetry")
    assert predictions.schema == PREDICTION_SCHEMA
    assert predictions.equals(predictions.sort(PREDICTION_SCHEMA.names()[:6]))
    expected = splits.join(failures.select("scenario", "run_id"), on="scenario")
    key = ["repeat", "fold", "run_id"]
    for name in FEATURE_SETS:
        of_set = predictions.filter(pl.col("feature_set") == name)
        assert of_set.select(key).sort(key).equals(expected.select(key).sort(key))


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_the_label_of_a_tested_run_has_no_part_in_its_prediction(predicted, failures, splits):
    tested = splits.filter(pl.col("repeat") == 0, pl.col("fold") == 0)["scenario"]
    another = dict(zip(CATEGORIES, CATEGORIES[1:] + CATEGORIES[:1], strict=True))
    wrong = (
        pl.when(pl.col("scenario").is_in(tested.implode()))
        .then(pl.col("category").replace_strict(another))
        .otherwise("category")
        .alias("category")
    )
    of_fold = (pl.col("repeat") == 0) & (pl.col("fold") == 0)
    answers = [name for name in PREDICTION_SCHEMA if name != "category"]
    honest, blind = (
        predicted("raw_text", runs).filter(of_fold).select(answers)
        for runs in (failures, failures.with_columns(wrong))
    )
    assert honest.height == 2 * len(tested)
    assert honest.equals(blind)


def test_a_word_that_tells_the_category_is_found(predicted):
    predictions = predicted("raw_text")
    right = predictions.filter(pl.col("prediction") == pl.col("category"))
    assert right.height / predictions.height > 0.9


@pytest.mark.parametrize("tells", [False, True])
def test_the_series_of_twins_tell_the_category_only_if_it_is_in_them(failures, splits, tells):
    """Losses that say nothing but how long the run was, and the same with the category in them."""
    rng = np.random.default_rng(0)
    places = {category: place for place, category in enumerate(CATEGORIES)}

    def losses(category: str) -> list[float]:
        level = 5.0 * places[category] if tells else 0.0
        return list(level + rng.normal(size=30))

    silent = {name: pl.Series([[0.0] * 30] * failures.height) for name in RAW_SERIES}
    loss = pl.Series([losses(category) for category in failures["category"]])
    twins = failures.with_columns(**silent | {"loss": loss}).with_columns(
        pl.lit("").alias(name) for name in RAW_TEXT
    )
    successes = feature_table(made_up_telemetry(), made_up_scenarios()).filter(kind="success")
    predictions = raw_predictions(
        *(twins, successes, splits, "raw_series", SETTINGS), seed=0, feature_sets=("19",)
    )
    controls = read_with_statistics("controls", ControlSettings, PARAMS)
    interval = balanced_accuracy(predictions, controls)
    assert interval["n"] == failures["scenario"].n_unique()
    if tells:
        assert interval["value"] > 0.8
    else:
        assert interval["ci_low"] <= CHANCE <= interval["ci_high"]
