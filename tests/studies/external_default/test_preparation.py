"""What is missing or infinite becomes a number, by the rows that it was fitted to alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.studies.external_default.preparation import Preparation


def test_what_is_missing_becomes_the_mean():
    rows = pd.DataFrame({"a": [1.0, 3.0, np.nan]})
    assert Preparation().fit(rows).transform(rows)["a"][2] == pytest.approx(2.0, abs=0.02)


def test_of_a_column_with_an_infinite_mean_the_largest_value_takes_its_place():
    rows = pd.DataFrame({"a": [1.0, 3.0, np.inf, np.nan]})
    fitted = Preparation().fit(rows)
    assert fitted.fill_["a"] == 3.0
    assert fitted.transform(rows)["a"].tolist()[2:] == [3.0, 3.0]


def test_both_tails_are_clipped_at_the_quantiles():
    rows = pd.DataFrame({"a": np.arange(101.0)})
    prepared = Preparation().fit_transform(rows)["a"]
    assert (prepared.min(), prepared.max()) == (1.0, 99.0)


def test_other_rows_are_prepared_by_those_that_it_was_fitted_to():
    fitted = Preparation().fit(pd.DataFrame({"a": [0.0, 10.0]}))
    other = fitted.transform(pd.DataFrame({"a": [-5.0, np.nan, np.inf, 500.0]}))
    assert other["a"].tolist() == pytest.approx([0.1, 5.0, 9.9, 9.9])
