import numpy as np
import polars as pl
import pytest

from ablation import AblationSettings, measured_interaction, variant
from failbench.base.vocabulary import ALL_GROUPS, CATEGORIES
from failbench.features.feature_table import to_frame
from failbench.statistics.pairs import paired_scores
from importance import ImportanceSettings, answers, importance
from measure_ablation import View, ablation
from measure_importance import importances
from study_settings import DRAWS, FOREST, IMPROVED_RULES, TESTS, WILSON

BOTH = ("memory", "perplexity")
VALUES: dict[str, object] = {
    **DRAWS | TESTS | WILSON | {"wilson_below": 10},
    "repeats": 1,
    "kept": (("memory",), ("perplexity",), BOTH, ("training_dynamics",), ("error_text",)),
    "superadditive": BOTH,
}
SETTINGS = AblationSettings.model_validate(VALUES)
CODE = pl.col("category").replace_strict({name: float(at) for at, name in enumerate(CATEGORIES)})


@pytest.fixture(scope="module")
def told_by_memory(failures) -> pl.DataFrame:
    """Failures whose peak memory alone tells the category."""
    return failures.with_columns(peak_memory=CODE, max_loss=0.0)


@pytest.fixture(scope="module")
def predictions(told_by_memory, successes, splits) -> pl.DataFrame:
    return ablation(told_by_memory, successes, splits, IMPROVED_RULES, FOREST, SETTINGS, seed=0)


def test_a_forest_is_worth_what_it_sees_and_each_subset_is_held_against_all(predictions):
    forest = predictions.filter(method="random_forest", feature_set="19")
    right = (pl.col("prediction") == pl.col("category")).mean()
    accuracy = dict(forest.group_by("subset").agg(right=right).iter_rows())
    assert accuracy["memory"] > 0.75
    assert max(accuracy["without_memory"], accuracy["perplexity"]) < 0.5
    rates, compared, _ = variant(forest, "19", "random_forest", SETTINGS)
    of_accuracy = rates.filter(metric="accuracy")
    (row,) = of_accuracy.filter(subset="perplexity").to_dicts()
    less = accuracy["perplexity"] - accuracy[ALL_GROUPS]
    assert (row["value"], row["difference"]) == pytest.approx((accuracy["perplexity"], less))
    assert row["difference_low"] <= row["difference"] <= row["difference_high"] < 0
    others = of_accuracy.filter(pl.col("subset") != ALL_GROUPS)
    assert set(compared) == {f"{subset}_less_all" for subset in others["subset"]}
    assert (others["p_holm"] >= others["p"]).all()
    assert rates.filter(subset=ALL_GROUPS)["difference"].null_count() == 2


def test_rules_are_blind_to_what_they_must_not_see_and_whole_with_all_signals(
    predictions, told_by_memory
):
    answers = predictions.filter(subset=ALL_GROUPS).select(
        "method", "repeat", "run_id", "prediction"
    )
    whole, reduced = (
        answers.filter(method=name).drop("method") for name in ("improved_rules", "reduced_rules")
    )
    assert whole.equals(reduced)
    raised = {"error_type": "RuntimeError", "error_message": "out of memory"}
    frame = to_frame(told_by_memory).assign(**raised)
    seen = View("improved_rules", IMPROVED_RULES, ("memory_warning",)).frame(frame)
    assert seen["perplexity"].isna().all()
    assert (seen["error_type"] == "").all()
    assert np.array_equal(seen["memory_warning"], frame["memory_warning"])
    assert not frame["perplexity"].isna().any()
    with_text = View("improved_rules", IMPROVED_RULES, ("error_text",)).frame(frame)
    assert (with_text["error_type"] == "RuntimeError").all()
    assert with_text["memory_warning"].isna().all()


def surplus(*right: set[int]) -> dict[str, dict[str, float]]:
    """Of two groups and both, of which the scenarios with these numbers are right."""
    rows = [
        (name, repeat, (number + repeat) % 3, category, f"{category}_{number}", answer)
        for name, numbers in zip((*BOTH, "memory+perplexity"), right, strict=True)
        for repeat in range(2)
        for category in CATEGORIES
        for number in range(6)
        for answer in [category if number in numbers else "abstain"]
    ]
    columns = ["method", "repeat", "fold", "category", "scenario", "prediction"]
    answers = pl.DataFrame(rows, columns, orient="row").with_columns(seed=0)
    found = measured_interaction(paired_scores(answers), BOTH, SETTINGS, "nothing")
    return {row["over"]: row for row in found.to_dicts()}


def test_groups_are_superadditive_that_are_right_together_where_neither_is_alone():
    added = surplus({0, 1}, {2}, {0, 1, 2})["over_nothing"]
    parts = [added[name] for name in ("value", "first", "second", "both")]
    assert parts == pytest.approx([0, 2 / 6, 1 / 6, 3 / 6], abs=1e-12)
    assert (added["p"], added["verdict"]) == (1, "not shown")
    over = surplus(set(), set(), {0, 1, 2, 3})["over_nothing"]
    assert (over["value"], over["verdict"]) == (pytest.approx(4 / 6), "superadditive")
    assert 0 < over["ci_low"] < over["value"] < over["ci_high"]


# Importance.

IMPORTANCE = ImportanceSettings(
    **DRAWS, repeats=1, replacements=5, source="training_fold", shapes=2
)
METHODS = {"random_forest": FOREST.model_copy(update={"trees": 15, "max_features": (0.5,)})}


def test_features_that_stand_in_for_one_another_are_found_as_a_group(told_by_memory, splits):
    """Two of one group tell failures apart, each of them by itself."""
    told_twice = told_by_memory.with_columns(memory_at_failure=CODE)
    measured = importances(told_twice, splits, METHODS, IMPORTANCE, seed=0)
    correct = answers(measured.predictions, measured.replacements, "training_fold")
    found = importance(correct, measured.built_in, IMPORTANCE)
    of_set = found.filter(feature_set="19").select("kind", "name", "value").iter_rows()
    drops = {(kind, name): value for kind, name, value in of_set}
    alone = max(drops["feature", name] for name in ("peak_memory", "memory_at_failure"))
    assert drops["group", "memory"] > max(0.5, alone + 0.2)
    assert (found["ci_low"] <= found["value"]).all()
    assert (found["value"] <= found["ci_high"]).all()
    totals = found.group_by("feature_set", "kind").agg(pl.col("share", "own").sum())
    assert totals.select("share", "own").to_numpy() == pytest.approx(1)
