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
TELEMETRY = made_up_telemetry()
SUCCESSES = feature_table(TELEMETRY, made_up_scenarios()).filter(kind="success")


@pytest.fixture(scope="module")
def failures() -> pl.DataFrame:
    """Errors name the category; of model_software nothing is said."""
    named = pl.col("scenario").str.extract("^(memory|optimization|data|unknown)")
    runs = TELEMETRY.runs.with_columns(error_message=named)
    return raw_table(Telemetry(runs, TELEMETRY.steps), made_up_scenarios()).filter(kind="failure")


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 2, 2, seed=0)


def test_every_run_is_predicted_in_the_fold_of_its_scenario_under_every_feature_set(
    failures, splits
):
    predictions = raw_predictions(failures, SUCCESSES, splits, "raw_telemetry", SETTINGS, seed=0)
    assert predictions.schema == PREDICTION_SCHEMA
    assert predictions.equals(predictions.sort(PREDICTION_SCHEMA.names()[:6]))
    key = ["repeat", "fold", "run_id"]
    expected = splits.join(failures.select("scenario", "run_id"), on="scenario").select(key)
    for name in FEATURE_SETS:
        assert predictions.filter(feature_set=name).select(key).sort(key).equals(expected.sort(key))


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_word_that_tells_is_found_and_the_label_of_a_tested_run_has_no_part(failures, splits):
    tested = splits.filter(repeat=0, fold=0)["scenario"]
    another = dict(zip(CATEGORIES, CATEGORIES[1:] + CATEGORIES[:1], strict=True))
    held = pl.when(pl.col("scenario").is_in(tested.implode()))
    wrong = held.then(pl.col("category").replace_strict(another)).otherwise("category")
    honest, blind = (
        raw_predictions(runs, SUCCESSES, splits, "raw_text", SETTINGS, seed=0)
        for runs in (failures, failures.with_columns(category=wrong))
    )
    assert (honest["prediction"] == honest["category"]).mean() > 0.9
    first, again = (each.filter(repeat=0, fold=0).drop("category") for each in (honest, blind))
    assert first.height == 2 * len(tested)
    assert first.equals(again)


@pytest.mark.parametrize("tells", [False, True])
def test_the_series_of_twins_tell_the_category_only_if_it_is_in_them(failures, splits, tells):
    """Losses that say nothing but how long the run was, and the same with the category in them."""
    rng = np.random.default_rng(0)
    levels = [5.0 * tells * CATEGORIES.index(category) for category in failures["category"]]
    losses = pl.Series([list(level + rng.normal(size=30)) for level in levels])
    silent = {name: pl.Series([[0.0] * 30] * failures.height) for name in RAW_SERIES}
    twins = failures.with_columns(
        **silent | {"loss": losses}, **dict.fromkeys(RAW_TEXT, pl.lit(""))
    )
    asked = (twins, SUCCESSES, splits, "raw_series", SETTINGS)
    predictions = raw_predictions(*asked, seed=0, feature_sets=("19",))
    controls = read_with_statistics("controls", ControlSettings, PARAMS)
    interval = balanced_accuracy(predictions, controls)
    assert interval["n"] == failures["scenario"].n_unique()
    if tells:
        assert interval["value"] > 0.8
    else:
        assert interval["ci_low"] <= CHANCE <= interval["ci_high"]
