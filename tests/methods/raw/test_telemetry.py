"""Methods on raw series and error text: what each of them can see, and what it learns from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.raw.telemetry import DECLARATIONS, RawTelemetrySettings

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
