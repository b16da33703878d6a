from __future__ import annotations

import polars as pl
import pytest

from abstention import estimates as estimates_of
from failbench.base.method_settings import ImprovedRulesSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.studies import NESTED_CV
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import make_splits, within_training
from failbench.statistics.intervals import IntervalSettings, method_intervals
from failbench.statistics.thresholds import lowest_thresholds
from measure_abstention import measure
from shared.abstention import AbstentionSettings

RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
INTERVALS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
SETTINGS = AbstentionSettings(feature_set="19", step=0.1, precision=0.6)


@pytest.fixture(scope="module")
def table(failures) -> pl.DataFrame:
    named = (pl.col("category") == "memory_hardware") | (
        (pl.col("category") == "data_pipeline") & (pl.col("seed") == 0)
    )
    memory = pl.when(named).then(1.0).otherwise(0.5)
    return failures.with_columns(
        error_type=pl.when(named).then(pl.lit("torch.OutOfMemoryError")),
        error_message=pl.when(named).then(pl.lit("CUDA out of memory.")),
        peak_memory=memory,
        memory_at_failure=memory,
        memory_warning=named.cast(pl.Float64),
    )


@pytest.fixture(scope="module")
def splits(table) -> pl.DataFrame:
    return make_splits(table.select("scenario", "category").unique(), 3, 1, seed=0)


@pytest.fixture(scope="module")
def predictions(table, successes, splits) -> pl.DataFrame:
    return nested_cv(table, successes, splits, "improved_rules", RULES, FEATURE_SETS, seed=5)


@pytest.fixture(scope="module")
def inner(table, successes, splits) -> pl.DataFrame:
    return measure(table, successes, splits, RULES, "19", seed=5)


@pytest.fixture(scope="module")
def monitored(predictions) -> pl.DataFrame:
    """Answers of another method, which never abstains for a low confidence."""
    unsure = pl.col("reason") == "low_confidence"
    return predictions.with_columns(
        method=pl.lit("invariants"),
        prediction=pl.when(unsure).then(pl.lit("unknown")).otherwise("prediction"),
        reason=pl.when(unsure.not_()).then("reason"),
    )


@pytest.fixture(scope="module")
def study(predictions, inner, monitored):
    def run(settings: AbstentionSettings = SETTINGS) -> dict[tuple[str, str, str], dict]:
        estimates = estimates_of(predictions, inner, monitored, settings, INTERVALS)
        return {(row["part"], row["key"], row["metric"]): row for row in estimates.rows(named=True)}

    return run


@pytest.fixture(scope="module")
def estimates(study):
    return study()


def test_an_inner_fit_sees_nothing_of_either_fold_that_it_predicts(table, splits):
    plans = within_training(NESTED_CV, splits)
    assert len({(plan.repeat, plan.fold) for plan in plans}) == len(plans) == 3
    folds = {row["scenario"]: row["fold"] for row in splits.rows(named=True)}
    of_run = table["scenario"].replace_strict(folds).to_numpy()
    for plan in plans:
        tested, trained = plan.rows(splits, table)
        assert set(of_run[tested]) == {plan.split, plan.also}
        assert set(of_run[trained]) == {0, 1, 2} - {plan.split, plan.also}


def test_every_training_run_of_a_fold_is_predicted_for_it_once(table, splits, inner):
    assert inner.schema == PREDICTION_SCHEMA
    assert inner.equals(inner.sort(PREDICTION_SCHEMA.names()[:6]))
    runs = table.select("scenario", "run_id")
    for fold in range(3):
        trained = splits.filter(pl.col("fold") != fold).select("scenario")
        expected = runs.join(trained, on="scenario")["run_id"].sort()
        assert inner.filter(pl.col("fold") == fold)["run_id"].sort().equals(expected)


def test_the_estimates_of_the_study_itself_are_those_of_the_main_study(estimates, predictions):
    expected = method_intervals(predictions.filter(pl.col("feature_set") == "19"), INTERVALS)
    assert estimates["reasons", "all", "abstention_rate"]["value"] == pytest.approx(
        expected["abstention_rate"].value
    )
    for part, key in (("chosen", "as_measured"), ("thresholds", "0.60")):
        for metric in ("accuracy", "accuracy_when_committed"):
            row = estimates[part, key, metric]
            same = expected[metric]
            assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx(
                (same.value, same.ci_low, same.ci_high)
            )


def test_reasons_add_up_to_all_abstentions_of_each_category(estimates):
    for category in ("all", "memory_hardware", "optimization", "unknown"):
        shares = [
            row["value"]
            for (part, key, metric), row in estimates.items()
            if (part, key) == ("reasons", category) and metric.startswith("share_")
        ]
        if estimates["reasons", category, "abstention_rate"]["value"] > 0:
            assert sum(shares) == pytest.approx(1)
        else:
            assert shares == []


def test_each_fold_gets_a_threshold_from_its_training_side(estimates):
    assert estimates["chosen", "per_fold", "folds_with_a_threshold"]["value"] == 1
    tau = estimates["chosen", "per_fold", "tau"]
    assert tau["n"] == 3
    assert 0 < tau["ci_low"] <= tau["value"] <= tau["ci_high"] <= 1


def test_a_precision_that_no_threshold_reaches_is_said_and_abstains_from_everything(study):
    estimates = study(SETTINGS.model_copy(update={"precision": 0.999}))
    assert estimates["chosen", "per_fold", "folds_with_a_threshold"]["value"] == 0
    assert estimates["chosen", "per_fold", "coverage"]["value"] == 0
    assert ("chosen", "per_fold", "tau") not in estimates
    assert ("chosen", "per_fold", "accuracy_when_committed") not in estimates


def test_the_labels_of_tested_scenarios_have_no_part_in_the_choice(table, successes, splits, inner):
    """With the labels of fold 0 exchanged, the threshold of fold 0 stays what it was."""
    tested = splits.filter(pl.col("fold") == 0)["scenario"].to_list()
    swap = {"memory_hardware": "data_pipeline", "data_pipeline": "memory_hardware"}
    held = pl.col("scenario").is_in(tested)
    exchanged = table.with_columns(
        category=pl.when(held).then(pl.col("category").replace(swap)).otherwise("category")
    )
    other = measure(exchanged, successes, splits, RULES, "19", seed=5)
    before, after = (
        lowest_thresholds(predictions, SETTINGS.taus, 0.55, ("repeat", "fold"))
        for predictions in (inner, other)
    )
    assert before.row(0) == after.row(0)
    assert not before.equals(after)
