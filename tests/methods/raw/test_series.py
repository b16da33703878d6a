"""Series of any length in one array, by a rule that is learnt from the training runs alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.methods.raw.series import MAX_DEVIATION, RESOLUTION, AlignedSeries

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
