import polars as pl
import pytest

from abstention import estimates as estimates_of
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import method_intervals
from failbench.statistics.thresholds import lowest_thresholds
from measure_abstention import measure
from shared.abstention import AbstentionSettings
from study_settings import IMPROVED_RULES, METHOD_INTERVALS

INTERVALS = METHOD_INTERVALS.model_copy(update={"wilson_below": 10})
SETTINGS = AbstentionSettings(feature_set="19", step=0.1, precision=0.6)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 1, seed=0)


@pytest.fixture(scope="module")
def inner(out_of_memory, successes, splits) -> pl.DataFrame:
    return measure(out_of_memory, successes, splits, IMPROVED_RULES, "19", seed=5)


@pytest.fixture(scope="module")
def predictions(out_of_memory, successes, splits) -> pl.DataFrame:
    rules = ("improved_rules", IMPROVED_RULES, FEATURE_SETS)
    return nested_cv(out_of_memory, successes, splits, *rules, seed=5)


@pytest.fixture(scope="module")
def study(predictions, inner):
    """Estimates of the rules beside another method, which never abstains for a low confidence."""
    unsure = pl.col("reason") == "low_confidence"
    monitored = predictions.with_columns(
        method=pl.lit("invariants"),
        prediction=pl.when(unsure).then(pl.lit("unknown")).otherwise("prediction"),
        reason=pl.when(unsure.not_()).then("reason"),
    )

    def run(settings: AbstentionSettings = SETTINGS) -> dict[tuple[str, str, str], dict]:
        estimates = estimates_of(predictions, inner, monitored, settings, INTERVALS)
        return {(row["part"], row["key"], row["metric"]): row for row in estimates.rows(named=True)}

    return run


def test_the_estimates_of_the_study_itself_are_those_of_the_main_study(study, predictions):
    estimates = study()
    expected = method_intervals(predictions.filter(feature_set="19"), INTERVALS)
    rate = estimates["reasons", "all", "abstention_rate"]["value"]
    assert rate == pytest.approx(expected["abstention_rate"].value)
    bounds = ("value", "ci_low", "ci_high")
    for part, key in (("chosen", "as_measured"), ("thresholds", "0.60")):
        for metric in ("accuracy", "accuracy_when_committed"):
            row, same = estimates[part, key, metric], expected[metric]
            assert [row[b] for b in bounds] == pytest.approx([getattr(same, b) for b in bounds])
    for category in ("all", "memory_hardware", "optimization", "unknown"):
        shares = [
            row["value"]
            for (*place, metric), row in estimates.items()
            if place == ["reasons", category] and metric.startswith("share_")
        ]
        abstained = estimates["reasons", category, "abstention_rate"]["value"] > 0
        assert sum(shares) == pytest.approx(1 if abstained else 0)


def test_the_labels_of_tested_scenarios_have_no_part_in_the_choice(
    out_of_memory, successes, splits, inner
):
    """With the labels of fold 0 exchanged, the threshold of fold 0 stays what it was."""
    swap = {"memory_hardware": "data_pipeline", "data_pipeline": "memory_hardware"}
    held = pl.col("scenario").is_in(splits.filter(fold=0)["scenario"].to_list())
    exchanged = out_of_memory.with_columns(
        category=pl.when(held).then(pl.col("category").replace(swap)).otherwise("category")
    )
    other = measure(exchanged, successes, splits, IMPROVED_RULES, "19", seed=5)
    before, after = (
        lowest_thresholds(predictions, SETTINGS.taus, 0.55, ("repeat", "fold"))
        for predictions in (inner, other)
    )
    assert before.row(0) == after.row(0)
    assert not before.equals(after)
