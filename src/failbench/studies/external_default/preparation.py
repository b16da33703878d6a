"""Preparation: how the authors of DEFault make finite numbers of their tables."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

TAIL: Final = 0.01
"""Share of the values of a column that are clipped at each end, as the authors have it."""


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Imputes missing values, bounds infinite ones, and clips both tails of each column.

    What is missing becomes the mean of the column, or its largest finite value where the mean is
    infinite; so does what is infinite. Then values are clipped at the quantiles 1 and 99 %. All
    three are of the rows that it is fitted to: the authors fit it to all rows, we to training rows.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's
        """Measure what values are replaced by; a column without any value becomes zero."""
        finite = X.where(np.isfinite(X))
        self.largest_ = finite.max().fillna(0.0)
        mean = X.mean()
        self.fill_ = mean.where(np.isfinite(mean), self.largest_)
        replaced = self._replaced(X)
        self.low_ = replaced.quantile(TAIL)
        self.high_ = replaced.quantile(1 - TAIL)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Replace and clip."""
        check_is_fitted(self)
        return self._replaced(X).clip(self.low_, self.high_, axis=1)

    def _replaced(self, X: pd.DataFrame) -> pd.DataFrame:
        filled = X.fillna(self.fill_)
        return filled.where(np.isfinite(filled), self.largest_, axis=1)
