from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats

from ablation import AblationSettings, measured_interaction, reported_interaction, variant
from failbench.base.errors import BadInputError
from failbench.base.method_settings import ImprovedRulesSettings, RandomForestSettings
from failbench.base.vocabulary import ALL_GROUPS, CATEGORIES
from failbench.features.feature_table import to_frame
from failbench.prediction.splits import make_splits
from failbench.statistics.pairs import paired_scores
from measure_ablation import KEY, View, ablation
from shared.ablation import ABLATION_SCHEMA

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
    "wilson_below": 10,
    "practical_equivalence": 0.05,
    "equivalence_margin": 0.1,
    "power": 0.8,
    "seed": 0,
}
SETTINGS = AblationSettings.model_validate(VALUES)


@pytest.fixture(scope="module")
def told_by_memory(failures) -> pl.DataFrame:
    """Failures whose peak memory alone tells the category."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    shift = pl.col("category").replace_strict(codes)
    return failures.with_columns(peak_memory=shift, max_loss=0.0)


@pytest.fixture(scope="module")
def predictions(told_by_memory, failures, successes) -> pl.DataFrame:
    splits = make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)
    return ablation(told_by_memory, successes, splits, RULES, FOREST, SETTINGS, seed=0)


def accuracy(predictions: pl.DataFrame, subset: str) -> float:
    """Of the forest on 19 features."""
    rows = predictions.filter(method="random_forest", subset=subset, feature_set="19")
    return float((rows["prediction"] == rows["category"]).to_numpy().mean())


def test_every_run_is_predicted_with_every_subset_once_per_repeat(predictions, told_by_memory):
    assert predictions.schema == ABLATION_SCHEMA
    assert not predictions.select(KEY).is_duplicated().any()
    assert predictions.equals(predictions.sort(KEY))
    counts = predictions.group_by("feature_set", "method", "subset").len()["len"]
    assert set(counts) == {told_by_memory.height * SETTINGS.repeats}
    subsets = predictions.group_by("feature_set", "method").agg(pl.col("subset").n_unique())
    by_method = {(feature_set, method): count for feature_set, method, count in subsets.rows()}
    # all, those kept, and without each group; 19 features have no keywords to keep or leave out
    assert by_method == {
        ("19", "improved_rules"): 1 + 5 + 7,
        ("19", "reduced_rules"): 1 + 5 + 7,
        ("19", "random_forest"): 1 + 4 + 6,
        ("19+keywords", "random_forest"): 1 + 5 + 7,
    }


def test_a_forest_is_worth_what_the_signals_it_sees_are(predictions):
    assert accuracy(predictions, "memory") > 0.75
    assert accuracy(predictions, "without_memory") < 0.5
    assert accuracy(predictions, "perplexity") < 0.5


def test_with_all_signals_both_readings_of_the_rules_are_the_method_itself(predictions):
    answers = predictions.filter(subset=ALL_GROUPS).select(
        "method", "repeat", "run_id", "prediction"
    )
    whole, reduced = (
        answers.filter(method=method).drop("method")
        for method in ("improved_rules", "reduced_rules")
    )
    assert whole.equals(reduced)


def test_leaving_the_keywords_out_is_the_smaller_feature_set(predictions):
    keys = ["repeat", "run_id", "prediction"]
    forest = predictions.filter(method="random_forest")
    small = forest.filter(feature_set="19", subset=ALL_GROUPS)
    assert small.select(keys).equals(forest.filter(subset="without_error_text").select(keys))


def test_rules_are_blind_to_what_they_must_not_see(told_by_memory):
    frame = to_frame(told_by_memory).assign(
        error_type="RuntimeError", error_message="out of memory"
    )
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


def test_each_subset_has_its_rates_and_is_held_against_all_in_one_family(predictions):
    forest = predictions.filter(method="random_forest", feature_set="19")
    rates, compared, _ = variant(forest, "19", "random_forest", SETTINGS)
    whole, alone = (accuracy(predictions, name) for name in (ALL_GROUPS, "perplexity"))
    of_accuracy = rates.filter(metric="accuracy")
    row = of_accuracy.row(by_predicate=pl.col("subset") == "perplexity", named=True)
    assert row["value"] == pytest.approx(alone)
    assert row["difference"] == pytest.approx(alone - whole)
    assert row["difference_low"] <= row["difference"] <= row["difference_high"] < 0
    others = of_accuracy.filter(pl.col("subset") != ALL_GROUPS)
    assert set(compared) == {f"{subset}_less_all" for subset in others["subset"]}
    assert (others["p_holm"] >= others["p"]).all()
    assert rates.filter(subset=ALL_GROUPS)["difference"].null_count() == 2


def answers(first: set[int], second: set[int], both: set[int]) -> pl.DataFrame:
    """Two repeats of three folds; of each category the scenarios with these numbers are right."""
    subsets = {"memory": first, "perplexity": second, "memory+perplexity": both}
    return pl.DataFrame(
        [
            {
                "method": name,
                "repeat": repeat,
                "fold": (number + repeat) % 3,
                "category": category,
                "scenario": f"{category}_{number}",
                "seed": 0,
                "prediction": category if number in right else "abstain",
            }
            for name, right in subsets.items()
            for repeat in range(2)
            for category in CATEGORIES
            for number in range(6)
        ]
    )


def surplus(*right: set[int]) -> dict[str, dict[str, float]]:
    scores = paired_scores(answers(*right))
    found = measured_interaction(scores, SETTINGS.superadditive, SETTINGS, "nothing")
    return {row["over"]: row for row in found.to_dicts()}


def test_groups_that_tell_different_scenarios_apart_add_up_exactly():
    over = surplus({0, 1}, {2}, {0, 1, 2})["over_nothing"]
    assert over["value"] == pytest.approx(0, abs=1e-12)
    assert [over[name] for name in ("first", "second", "both")] == pytest.approx(
        [2 / 6, 1 / 6, 3 / 6]
    )
    assert (over["p"], over["verdict"]) == (1, "not shown")


def test_groups_that_are_right_only_together_are_superadditive():
    over = surplus(set(), set(), {0, 1, 2, 3})["over_nothing"]
    assert over["value"] == pytest.approx(4 / 6)
    assert 0 < over["ci_low"] < over["value"] < over["ci_high"]
    assert over["verdict"] == "superadditive"


def test_a_baseline_shifts_value_and_interval_alike():
    over = surplus({0, 1}, {1, 2}, {0, 1, 2})
    for name in ("value", "ci_low", "ci_high"):
        assert over["over_chance"][name] - over["over_nothing"][name] == pytest.approx(0.2)
    assert over["over_majority"]["baseline"] == pytest.approx(1 / 5)
    assert over["over_majority"]["value"] == pytest.approx(over["over_chance"]["value"])
    assert [row["over"] for row in over.values() if row["own"]] == ["over_nothing"]


def test_the_papers_figures_add_up_to_less_over_nothing_and_to_more_over_the_majority(reported):
    over = {row["over"]: row for row in reported_interaction(reported, 0.95).to_dicts()}
    assert over["over_nothing"]["value"] == pytest.approx(0.474 - 0.263 - 0.250)
    assert over["over_nothing"]["verdict"] == "not shown"
    assert over["over_majority"]["value"] == pytest.approx(-0.039 + 20 / 76)
    assert over["over_majority"]["verdict"] == "superadditive"
    variance = (0.263 * 0.737 + 0.25 * 0.75 + 0.474 * 0.526) / 76
    interval = stats.norm.interval(0.95, over["over_chance"]["value"], variance**0.5)
    assert [over["over_chance"][name] for name in ("ci_low", "ci_high")] == pytest.approx(interval)


def test_a_missing_count_of_scenarios_is_refused(reported):
    claims = {name: value for name, value in reported.claims.items() if name != "scenarios"}
    with pytest.raises(BadInputError, match="scenarios"):
        reported_interaction(reported.model_copy(update={"claims": claims}), 0.95)
