from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.base.errors import BadInputError
from failbench.methods.healthy import healthy_band, percentile_band


@pytest.fixture
def successes() -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=30)
    return pd.DataFrame({"max_loss": values, "oov_rate": [np.nan] * 29 + [0.1]})


def test_percentiles_are_those_of_numpy_on_either_side(successes):
    band = percentile_band(successes, ["max_loss"], 0.99)
    values = successes["max_loss"].to_numpy()
    assert band.upper("max_loss", 3) == pytest.approx(np.quantile(values, 0.99))
    assert band.lower("max_loss", 3) == pytest.approx(np.quantile(values, 0.01))


def test_with_few_runs_the_high_percentile_is_next_to_the_largest_value(successes):
    ordered = successes["max_loss"].sort_values().to_numpy()
    high = percentile_band(successes, ["max_loss"], 0.99).upper("max_loss", 3)
    assert ordered[-2] < high <= ordered[-1]


@pytest.mark.parametrize(
    "band", [healthy_band, lambda runs, names: percentile_band(runs, names, 0.99)]
)
def test_a_feature_that_a_single_run_has_gives_no_band(successes, band):
    with pytest.raises(BadInputError, match=r"oov_rate: only 1 of 30 runs have it"):
        band(successes, ["oov_rate"])
