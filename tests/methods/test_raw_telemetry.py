"""Step series as one array, and methods that read raw telemetry."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controls import ControlSettings, balanced_accuracy
from failbench.base.params import PARAMS
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT, feature_table, raw_table
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.raw_telemetry import DECLARATIONS, AlignedSeries, RawTelemetrySettings
from failbench.prediction.splits import make_splits
from failbench.statistics.settings import read_with_statistics
from made_up_telemetry import made_up_scenarios, made_up_telemetry
from shared.controls import CHANCE
from shared.raw_telemetry import raw_predictions


def frame(runs):
    series = [np.array(run, dtype=float) for run in runs]
    return pd.DataFrame({"a": pd.Series(series, dtype=object)})


series = st.lists(st.lists(st.floats(width=32), max_size=12), min_size=1, max_size=4)


@given(series, series)
def test_whatever_was_logged_becomes_finite(trained, tested):
    aligned = AlignedSeries(("a",)).fit(frame(trained)).transform(frame(tested))
    assert np.isfinite(aligned).all()


SETTINGS = RawTelemetrySettings(
    kernels=84, inner_folds=2, inverse_penalty=(1.0, 100.0), max_iterations=1000
)
every_method = pytest.mark.parametrize("name", DECLARATIONS)


def raw_runs(seed):
    """50 runs, two a scenario: a category's series swing at a pace, and its errors have a name."""
    rng = np.random.default_rng(seed)
    rows, labels = [], np.repeat(np.array(CATEGORIES, dtype=object), 10)
    for index, category in enumerate(labels):
        pace = CATEGORIES.index(category)
        steps = np.arange(int(rng.integers(30, 40)))
        row = {name: rng.normal(size=len(steps)) for name in RAW_SERIES}
        row["step"] = steps.astype(float)
        for name in RAW_SERIES[1:8]:
            row[name] = np.sin(steps * (0.2 + 0.4 * pace)) + rng.normal(0, 0.1, len(steps))
        message = "" if index % 5 == 0 else f"{category} failed"
        rows.append(dict.fromkeys(RAW_TEXT, message) | row)
    names = pd.Index([f"run_{index}" for index in range(50)], name="run_id")
    groups = np.array([f"scenario_{index // 2}" for index in range(50)], dtype=object)
    return pd.DataFrame(rows, index=names), labels, groups


def method(name):
    return DECLARATIONS[name].build(SETTINGS, Context((), HealthyBand({}, {}), seed=3))


@pytest.fixture(scope="module")
def runs():
    return raw_runs(0)


@pytest.fixture(scope="module")
def fitted(runs):
    return {name: method(name).fit(*runs) for name in DECLARATIONS}


@every_method
def test_a_run_is_answered_alike_alone_and_with_nothing(name, fitted, runs):
    alone = fitted[name].predict_proba(runs[0][7:8])
    assert alone[0] == pytest.approx(fitted[name].predict_proba(runs[0])[7])
    nothing = {**dict.fromkeys(RAW_TEXT, ""), **dict.fromkeys(RAW_SERIES, np.array([]))}
    (diagnosis,) = fitted[name].diagnose(pd.DataFrame([nothing], index=["a"]))
    assert diagnosis.category in CATEGORIES
    assert diagnosis.evidence == ()


@pytest.mark.parametrize(("name", "unseen"), [("raw_series", RAW_TEXT), ("raw_text", RAW_SERIES)])
def test_a_method_is_blind_to_what_it_does_not_read(name, unseen, fitted, runs):
    changed = runs[0].copy()
    changed[list(unseen)] = runs[0][list(unseen)].to_numpy()[::-1]
    expected = fitted[name].predict_proba(runs[0])
    assert fitted[name].predict_proba(changed).tolist() == expected.tolist()


@every_method
def test_the_columns_are_learnt_without_labels(name, fitted, runs):
    frame, labels, groups = runs
    other = method(name).fit(frame, labels[::-1], groups)
    columns = other.blocks_.transform(frame)
    assert columns.tobytes() == fitted[name].blocks_.transform(frame).tobytes()


def test_evidence_is_the_words_of_the_text_that_carry_the_answer(fitted, runs):
    frame, labels, _ = runs
    diagnoses = fitted["raw_text"].diagnose(frame)
    for diagnosis, label, message in zip(diagnoses, labels, frame["error_type"], strict=True):
        words = [item.value for item in diagnosis.evidence]
        assert (label in words) == bool(message)
        assert all(word in message for word in words)
        assert diagnosis.conditions >= len(words)


# The study, in which folds are of scenarios.

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
