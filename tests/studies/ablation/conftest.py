"""A small ablation of failures that one group of signals tells apart."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.prediction.splits import make_splits
from failbench.studies.ablation.measure import ablation
from failbench.vocabulary import CATEGORIES
from made_up_ablation import FOREST, RULES, SETTINGS


@pytest.fixture(scope="session")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="session")
def told_by_memory(failures) -> pl.DataFrame:
    """Failures whose peak memory alone tells the category."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    shift = pl.col("category").replace_strict(codes)
    return failures.with_columns(peak_memory=shift, max_loss=0.0)


@pytest.fixture(scope="session")
def predictions(told_by_memory, successes, splits) -> pl.DataFrame:
    return ablation(told_by_memory, successes, splits, RULES, FOREST, SETTINGS, seed=0)
