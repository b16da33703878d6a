"""Importances of failures that two features of one group tell apart."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.prediction.splits import make_splits
from failbench.studies.importance.measure import Importances, importances
from failbench.studies.importance.results import importance_table
from failbench.vocabulary import CATEGORIES
from made_up_importance import FOREST, SETTINGS


@pytest.fixture(scope="session")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="session")
def told_twice(failures) -> pl.DataFrame:
    """Failures that two features of one group tell apart, each of them by itself."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    code = pl.col("category").replace_strict(codes)
    return failures.with_columns(max_loss=pl.lit(0.0), peak_memory=code, memory_at_failure=code)


@pytest.fixture(scope="session")
def measured(told_twice, splits) -> Importances:
    return importances(told_twice, splits, {"random_forest": FOREST}, SETTINGS, seed=0)


@pytest.fixture(scope="session")
def importance(measured) -> pl.DataFrame:
    return importance_table(measured, SETTINGS)
