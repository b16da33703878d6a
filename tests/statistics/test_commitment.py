from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.method_settings import ImprovedRulesSettings
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.folds import make_splits
from failbench.prediction.nested_cv import nested_cv
from failbench.statistics.thresholds import at_threshold, lowest_thresholds
from made_up import made_up_predictions, small_predictions

RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)


@pytest.fixture(scope="module")
def table(failures) -> pl.DataFrame:
    """Runs with memory errors of every confidence, conflicting signals and missing metrics."""
    category, first = pl.col("category"), pl.col("scenario").str.ends_with("_0")
    memory_error = category == "memory_hardware"
    out_of_memory = memory_error | ((category == "data_pipeline") & (pl.col("seed") == 0))
    missing = memory_error & first
    memory = pl.when(missing).then(None).when(out_of_memory).then(1.0).otherwise(0.5)
    return failures.with_columns(
        error_type=pl.when(out_of_memory).then(pl.lit("torch.OutOfMemoryError")),
        error_message=pl.when(out_of_memory & first & ~memory_error)
        .then(pl.lit("CUDA out of memory: mat1 and mat2 shapes cannot be multiplied"))
        .when(out_of_memory)
        .then(pl.lit("CUDA out of memory.")),
        peak_memory=memory,
        memory_at_failure=memory,
        memory_warning=out_of_memory.cast(pl.Float64),
    )


def test_answers_at_another_tau_are_those_of_a_refit(table, successes):
    splits = make_splits(table.select("scenario", "category").unique(), 3, 1, seed=0)
    features = {"19": FEATURE_SETS["19"]}

    def refit(tau: float) -> pl.DataFrame:
        settings = RULES.model_copy(update={"tau": tau})
        return nested_cv(table, successes, splits, "improved_rules", settings, features, seed=5)

    stored = refit(0.6)
    assert set(stored["reason"]) == {None, "low_confidence", "conflict", "missing"}
    answered = []
    for tau in (0.05, 0.3, 0.45, 0.6, 0.9):
        committed = refit(tau)
        assert at_threshold(stored, tau).equals(committed)
        answered.append((committed["prediction"] != "abstain").sum())
    assert len(set(answered)) > 2


def test_a_threshold_given_run_by_run_is_applied_run_by_run():
    predictions = made_up_predictions().with_columns(
        threshold=pl.when(pl.col("repeat") == 0).then(0.9).otherwise(0.4)
    )
    committed = at_threshold(predictions, pl.col("threshold")).drop("threshold")
    for repeat, tau in ((0, 0.9), (1, 0.4)):
        rows = pl.col("repeat") == repeat
        expected = at_threshold(predictions.drop("threshold").filter(rows), tau)
        assert committed.filter(rows).equals(expected)


def test_a_threshold_of_zero_is_refused_as_nothing_is_known_of_confidence_zero():
    with pytest.raises(ValueError, match="must be above zero"):
        at_threshold(made_up_predictions(), 0.0)


def by_confidence() -> pl.DataFrame:
    """From the surest to the least sure: right, right, wrong, right, wrong."""
    return small_predictions(
        category=["optimization"] * 5,
        prediction=["optimization", "optimization", "unknown", "optimization", "unknown"],
        confidence=[0.9, 0.8, 0.6, 0.5, 0.4],
    )


@pytest.mark.parametrize(
    ("precision", "tau", "reached", "coverage"),
    [(1.0, 0.7, 1.0, 0.4), (0.75, 0.5, 0.75, 0.8), (0.6, 0.1, 0.6, 1.0)],
)
def test_the_lowest_threshold_that_reaches_the_precision_is_taken(
    precision: float, tau: float, reached: float, coverage: float
):
    taus = np.arange(1, 11) / 10
    lowest = lowest_thresholds(by_confidence(), taus, precision, ("repeat",))
    assert lowest.rows() == [(0, pytest.approx(tau), pytest.approx(reached), coverage)]


def test_where_no_threshold_reaches_the_precision_there_is_none():
    wrong = by_confidence().with_columns(category=pl.lit("data_pipeline"))
    lowest = lowest_thresholds(wrong, np.array([0.1, 0.5, 1.0]), 0.5, ("repeat",))
    assert lowest.rows() == [(0, None, None, None)]
