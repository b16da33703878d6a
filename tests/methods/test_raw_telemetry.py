"""Step series as one array, and methods that read raw telemetry."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.raw_telemetry import (
    DECLARATIONS,
    MAX_DEVIATION,
    RESOLUTION,
    AlignedSeries,
    RawTelemetrySettings,
)

NAN, INF = np.nan, np.inf


def frame(*runs: tuple[list[float], ...], signals: str = "ab") -> pd.DataFrame:
    """A run is a series a signal."""
    columns = {
        signal: pd.Series([np.array(run[number], dtype=float) for run in runs], dtype=object)
        for number, signal in enumerate(signals)
    }
    return pd.DataFrame(columns)


def aligned(train: pd.DataFrame, test: pd.DataFrame | None = None) -> np.ndarray:
    method = AlignedSeries(tuple(train.columns)).fit(train)
    return method.transform(train if test is None else test)


TEN = list(np.arange(10.0))


def test_all_series_end_at_the_failure_and_what_comes_before_is_the_mean():
    cube = aligned(frame((TEN, TEN), ([8.0, 9.0], [8.0, 9.0])))
    assert cube.shape == (2, 3, 10)
    assert cube[1, :2, -2:].tolist() == cube[0, :2, -2:].tolist()
    assert set(cube[1, :2, :-2].ravel()) == {0.0}


def test_of_a_series_longer_than_those_of_training_the_last_steps_are_taken():
    train = frame((TEN, TEN))
    longer = frame(([5.0, 5.0, *TEN], [5.0, 5.0, *TEN]))
    assert aligned(train, longer).tolist() == aligned(train).tolist()


def test_numbers_are_compressed_and_standardised_over_all_steps_of_all_runs():
    values = np.array([*TEN, -100.0])
    compressed = np.sign(values) * np.log1p(np.abs(values))
    expected = (compressed - compressed.mean()) / compressed.std()
    cube = aligned(frame((TEN, TEN), ([-100.0], [-100.0])))
    assert cube[0, 0] == pytest.approx(expected[:10], abs=RESOLUTION / 2)
    assert cube[1, 0, -1] == pytest.approx(expected[10], abs=RESOLUTION / 2)


def test_sums_of_single_precision_are_exact_in_any_order():
    """With the weights of MiniRocket, over as many channels as it ever adds."""
    rng = np.random.default_rng(0)
    spikes = [[0.0] * 40_000 + [1e300], *([*rng.normal(size=300)] for _ in range(3))]
    cube = aligned(frame(*((series, series) for series in spikes)))
    assert np.abs(cube).max() == MAX_DEVIATION
    assert (cube % RESOLUTION == 0).all()
    taps = rng.choice(np.append(cube.ravel()[::97], [MAX_DEVIATION] * 50), size=(500, 9, 9))
    weights = np.array([-1.0, -1, -1, 2, -1, 2, -1, 2, -1])
    terms = (taps * weights).reshape(500, -1)
    forwards = terms.astype(np.float32).cumsum(axis=1, dtype=np.float32)[:, -1]
    backwards = terms[:, ::-1].astype(np.float32).cumsum(axis=1, dtype=np.float32)[:, -1]
    assert forwards.tolist() == backwards.tolist() == terms.sum(axis=1).tolist()


def test_what_was_not_logged_repeats_the_last_number_and_is_the_mean_before_the_first():
    cube = aligned(frame(([NAN, *TEN[:4], NAN, NAN, *TEN[4:]], [0.0, *TEN, 9.0, 9.0])))
    assert cube[0, 0, 0] == 0.0
    assert cube[0, 0, 5] == cube[0, 0, 6] == cube[0, 0, 4] != cube[0, 0, 7]


numbers = st.lists(st.floats(width=32) | st.none(), max_size=12)


@given(st.lists(numbers, min_size=1, max_size=4), st.lists(numbers, min_size=1, max_size=4))
def test_whatever_was_logged_becomes_finite(trained, tested):
    train, test = (
        frame(*(([NAN if item is None else item for item in run],) for run in runs), signals="a")
        for runs in (trained, tested)
    )
    assert np.isfinite(aligned(train, test)).all()


SETTINGS = RawTelemetrySettings(
    kernels=168, inner_folds=2, inverse_penalty=(1.0, 100.0), max_iterations=1000
)
every_method = pytest.mark.parametrize("name", DECLARATIONS)


def raw_runs(seed: int, *, by_series: bool = True, by_text: bool = True):
    """50 runs, two a scenario: a category's series swing at a pace, and its errors have a name."""
    rng = np.random.default_rng(seed)
    rows, labels = [], np.repeat(np.array(CATEGORIES, dtype=object), 10)
    for index, category in enumerate(labels):
        pace = CATEGORIES.index(category) if by_series else 0
        steps = np.arange(int(rng.integers(30, 40)))
        series = {name: rng.normal(size=len(steps)) for name in RAW_SERIES}
        series["step"] = steps.astype(float)
        for name in RAW_SERIES[1:8]:
            series[name] = np.sin(steps * (0.2 + 0.4 * pace)) + rng.normal(0, 0.1, len(steps))
        message = f"{category} failed" if by_text else "something failed"
        text = dict.fromkeys(RAW_TEXT, "") if index % 5 == 0 else dict.fromkeys(RAW_TEXT, message)
        rows.append({**text, **series})
    names = pd.Index([f"run_{index}" for index in range(50)], name="run_id")
    groups = np.array([f"scenario_{index // 2}" for index in range(50)], dtype=object)
    return pd.DataFrame(rows, index=names), labels, groups


def method(name: str):
    return DECLARATIONS[name].build(SETTINGS, Context((), HealthyBand({}, {}), seed=3))


@pytest.fixture(scope="module")
def runs():
    return raw_runs(0)


@pytest.fixture(scope="module")
def fitted(runs):
    return {name: method(name).fit(*runs) for name in DECLARATIONS}


@every_method
def test_a_run_gets_the_same_answer_whatever_others_are_asked_about(name, fitted, runs):
    alone = fitted[name].predict_proba(runs[0][7:8])
    assert alone[0] == pytest.approx(fitted[name].predict_proba(runs[0])[7])


@every_method
def test_a_run_with_neither_steps_nor_text_is_answered(name, fitted):
    nothing = {**dict.fromkeys(RAW_TEXT, ""), **dict.fromkeys(RAW_SERIES, np.array([]))}
    (diagnosis,) = fitted[name].diagnose(pd.DataFrame([nothing], index=["a"]))
    assert diagnosis.category in CATEGORIES
    assert diagnosis.evidence == ()


@pytest.mark.parametrize(
    ("name", "informative"),
    [
        ("raw_series", {"by_text": False}),
        ("raw_text", {"by_series": False}),
        ("raw_telemetry", {"by_text": False}),
        ("raw_telemetry", {"by_series": False}),
    ],
)
def test_a_category_visible_in_series_or_text_is_learned_without_features(name, informative):
    seen, new = raw_runs(1, **informative), raw_runs(2, **informative)
    right = method(name).fit(*seen).predict(new[0]) == new[1]
    assert right.mean() > 0.75


@pytest.mark.parametrize(("name", "unseen"), [("raw_series", RAW_TEXT), ("raw_text", RAW_SERIES)])
def test_a_method_is_blind_to_what_it_does_not_read(name, unseen, fitted, runs):
    changed = runs[0].copy()
    changed[list(unseen)] = runs[0][list(unseen)].to_numpy()[::-1]
    assert fitted[name].predict_proba(changed).tolist() == (
        fitted[name].predict_proba(runs[0]).tolist()
    )


@every_method
def test_the_columns_are_learnt_without_labels(name, fitted, runs):
    frame, labels, groups = runs
    other = method(name).fit(frame, labels[::-1], groups)
    columns = other.blocks_.transform(frame)
    assert columns.tobytes() == fitted[name].blocks_.transform(frame).tobytes()


def test_evidence_is_the_words_of_the_text_that_carry_the_answer(fitted, runs):
    frame, labels, _ = runs
    for diagnosis, label, message in zip(
        fitted["raw_text"].diagnose(frame), labels, frame["error_type"], strict=True
    ):
        words = [item.value for item in diagnosis.evidence]
        assert (label in words) == bool(message)
        assert all(word in message for word in words)
        assert diagnosis.conditions >= len(words)
