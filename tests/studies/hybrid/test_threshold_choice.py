from __future__ import annotations

import numpy as np
import pytest

from failbench.studies.hybrid.threshold_choice import random_half


def test_halves_are_halves_and_an_odd_scenario_goes_to_either():
    rng = np.random.default_rng(0)
    assert set(random_half(rng, 8, 50).sum(axis=1)) == {4}
    assert set(random_half(rng, 7, 50).sum(axis=1)) == {3, 4}
    assert random_half(rng, 8, 500).mean(axis=0) == pytest.approx(np.full(8, 0.5), abs=0.1)
