"""Step series as one array, and methods that read raw telemetry."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.raw_telemetry import DECLARATIONS, AlignedSeries, RawTelemetrySettings


def frame(runs):
    series = [np.array(run, dtype=float) for run in runs]
    return pd.DataFrame({"a": pd.Series(series, dtype=object)})


series = st.lists(st.lists(st.floats(width=32), max_size=12), min_size=1, max_size=4)


@given(series, series)
def test_whatever_was_logged_becomes_finite(trained, tested):
    aligned = AlignedSeries(("a",)).fit(frame(trained)).transform(frame(tested))
    assert np.isfinite(aligned).all()


SEARCH = {"inner_folds": 2, "inverse_penalty": (1.0, 100.0), "max_iterations": 1000}
SETTINGS = RawTelemetrySettings(kernels=168, **SEARCH)
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
