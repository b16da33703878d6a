from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from failbench.errors import BadInputError
from failbench.features.feature_table import to_frame
from failbench.methods.classifiers import RandomForestSettings
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.signal_groups import ALL_GROUPS
from failbench.prediction.splits import make_splits
from failbench.studies.ablation.measure import ANSWER_SCHEMA, AblationSettings, View, ablation
from failbench.studies.ablation.results import ablation_metrics, ablation_points, ablation_results
from failbench.studies.ablation.superadditivity import reported_interactions
from failbench.vocabulary import CATEGORIES

RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
FOREST = RandomForestSettings(
    trees=5, inner_folds=2, max_features=("sqrt", 0.5), min_samples_leaf=(1,)
)
VALUES: dict[str, object] = {
    "repeats": 1,
    "kept": (
        ("memory",),
        ("perplexity",),
        ("memory", "perplexity"),
        ("training_dynamics",),
        ("error_text",),
    ),
    "superadditive": ("memory", "perplexity"),
    "resamples": 1000,
    "confidence": 0.95,
    "wilson_from": 0.9,
    "practical_equivalence": 0.05,
    "equivalence_margin": 0.1,
    "power": 0.8,
    "seed": 0,
}
SETTINGS = AblationSettings.model_validate(VALUES)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="module")
def told(failures) -> pl.DataFrame:
    """Failures whose peak memory alone tells the category."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    shift = pl.col("category").replace_strict(codes)
    return failures.with_columns(peak_memory=shift, max_loss=0.0)


@pytest.fixture(scope="module")
def answers(told, successes, splits) -> pl.DataFrame:
    return ablation(told, successes, splits, RULES, FOREST, SETTINGS, seed=0)


def accuracy(answers: pl.DataFrame, method: str, subset: str, feature_set: str = "19") -> float:
    mine = answers.filter(
        pl.col("method") == method,
        pl.col("subset") == subset,
        pl.col("feature_set") == feature_set,
    )
    return float((mine["prediction"] == mine["category"]).to_numpy().mean())


def test_every_subset_answers_every_run_once_a_repeat(answers, told):
    assert answers.schema == ANSWER_SCHEMA
    counts = answers.group_by("feature_set", "method", "subset").len()["len"]
    assert set(counts) == {told.height * SETTINGS.repeats}
    subsets = answers.group_by("feature_set", "method").agg(pl.col("subset").n_unique())
    by_method = {(feature_set, method): count for feature_set, method, count in subsets.rows()}
    # all, those kept, and without each group; 19 features have no keywords to keep or leave out
    assert by_method == {
        ("19", "improved_rules"): 1 + 5 + 7,
        ("19", "reduced_rules"): 1 + 5 + 7,
        ("19", "random_forest"): 1 + 4 + 6,
        ("19+keywords", "random_forest"): 1 + 5 + 7,
    }


def test_a_forest_is_worth_what_the_signals_it_sees_are(answers):
    assert accuracy(answers, "random_forest", "memory") > 0.75
    assert accuracy(answers, "random_forest", "without_memory") < 0.5
    assert accuracy(answers, "random_forest", "perplexity") < 0.5


def test_with_all_signals_both_readings_of_the_rules_are_the_method_itself(answers):
    keys = ["repeat", "run_id", "prediction"]
    whole, reduced = (
        answers.filter(pl.col("method") == method, pl.col("subset") == ALL_GROUPS).select(keys)
        for method in ("improved_rules", "reduced_rules")
    )
    assert whole.equals(reduced)


def test_leaving_the_keywords_out_is_the_smaller_feature_set(answers):
    keys = ["repeat", "run_id", "prediction"]
    forest = answers.filter(pl.col("method") == "random_forest")
    small = forest.filter(pl.col("feature_set") == "19", pl.col("subset") == ALL_GROUPS)
    without = forest.filter(pl.col("subset") == "without_error_text")
    assert small.select(keys).equals(without.select(keys))


def test_workers_do_not_change_the_answers(told, successes, splits, answers):
    assert ablation(told, successes, splits, RULES, FOREST, SETTINGS, 0, workers=2).equals(answers)


def test_rules_are_blind_to_what_they_must_not_see(told):
    frame = to_frame(told).assign(error_type="RuntimeError", error_message="out of memory")
    seen = View("improved_rules", RULES, ("memory_warning",)).frame(frame)
    assert seen["perplexity"].isna().all()
    assert (seen["error_type"] == "").all()
    assert np.array_equal(seen["memory_warning"], frame["memory_warning"])
    assert not frame["perplexity"].isna().any()
    with_text = View("improved_rules", RULES, ("error_text",)).frame(frame)
    assert (with_text["error_type"] == "RuntimeError").all()
    assert with_text["memory_warning"].isna().all()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kept": (("memroy",),)}, "memroy"),
        ({"kept": (("memory", "perplexity"), ("perplexity", "memory"))}, "named twice"),
        ({"superadditive": ("memory", "vocabulary")}, "kept alone and together"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, problem):
    with pytest.raises(ValidationError, match=problem):
        AblationSettings.model_validate(VALUES | values)


def test_more_repeats_than_there_are_splits_are_refused(told, successes, splits):
    many = AblationSettings.model_validate(VALUES | {"repeats": 3})
    with pytest.raises(BadInputError, match="the splits have 2"):
        ablation(told, successes, splits, RULES, FOREST, many, seed=0)


@pytest.fixture(scope="module")
def results(answers):
    return ablation_results(answers, SETTINGS)


def test_every_subset_but_all_is_held_against_all_in_one_family(results):
    for one in results:
        assert {each.right for each in one.comparisons} == {ALL_GROUPS}
        assert len(one.comparisons) == one.rates["subset"].n_unique() - 1
        assert all(each.reported_p >= each.p for each in one.comparisons)


def test_points_are_the_rates_with_the_difference_of_accuracy_beside_them(results, answers):
    points = ablation_points(results)
    row = points.filter(
        pl.col("method") == "random_forest",
        pl.col("feature_set") == "19",
        pl.col("subset") == "perplexity",
        pl.col("metric") == "accuracy",
    ).row(0, named=True)
    alone, whole = (accuracy(answers, "random_forest", name) for name in ("perplexity", ALL_GROUPS))
    assert row["value"] == pytest.approx(alone)
    assert row["difference"] == pytest.approx(alone - whole)
    assert row["difference_low"] <= row["difference"] <= row["difference_high"] < 0
    assert points.filter(pl.col("subset") == ALL_GROUPS)["difference"].null_count() == 2 * len(
        results
    )


def test_metrics_have_rates_differences_and_interactions_of_each_variant(results):
    reported = reported_interactions(
        0.263, 0.250, 0.474, 76, 20 / 76, 0.95, "improved_rules", "nothing"
    )
    metrics = ablation_metrics(results, reported, 0.05)
    rate = metrics["rates"]["19"]["random_forest"]["memory"]["accuracy"]
    assert set(rate) == {"value", "ci_low", "ci_high", "n"}
    assert "memory_less_all" in metrics["less_all"]["19+keywords"]["random_forest"]
    assert set(metrics["interaction"]["measured"]["19"]) == {
        "improved_rules",
        "random_forest",
        "reduced_rules",
    }
    assert metrics["interaction"]["reported"]["over_nothing"]["verdict"] == "not shown"
    assert metrics["interaction"]["measured"]["19"]["random_forest"]["over_majority"]["own"]
    assert metrics["interaction"]["measured"]["19"]["reduced_rules"]["over_nothing"]["own"]
