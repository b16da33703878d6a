import polars as pl
import pytest

from abstention import estimates as estimates_of
from failbench.base.method_settings import HybridSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.studies import NESTED_CV
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import within_training
from failbench.statistics.metrics import UnitCosts
from failbench.statistics.thresholds import lowest_thresholds
from failbench.study.estimates import Estimates
from hybrid import RoutingSettings, best_thresholds
from made_up import small_predictions
from measure_abstention import measure
from shared.abstention import AbstentionSettings
from study_settings import IMPROVED_RULES, METHOD_INTERVALS

INTERVALS = METHOD_INTERVALS.model_copy(update={"wilson_below": 10})
SETTINGS = AbstentionSettings(feature_set="19", step=0.1, precision=0.6)


@pytest.fixture(scope="module")
def inner(out_of_memory, successes, one_repeat) -> pl.DataFrame:
    return measure(out_of_memory, successes, one_repeat, IMPROVED_RULES, "19", seed=5)


def test_an_inner_fit_sees_neither_fold_that_it_predicts_and_every_training_run_is_predicted_once(
    out_of_memory, one_repeat, inner
):
    plans = within_training(NESTED_CV, one_repeat)
    assert len({(plan.repeat, plan.fold) for plan in plans}) == len(plans) == 3
    folds = {row["scenario"]: row["fold"] for row in one_repeat.rows(named=True)}
    of_run = out_of_memory["scenario"].replace_strict(folds).to_numpy()
    for plan in plans:
        tested, trained = plan.rows(one_repeat, out_of_memory)
        assert set(of_run[tested]) == {plan.split, plan.also}
        assert set(of_run[trained]) == {0, 1, 2} - {plan.split, plan.also}
    assert inner.schema == PREDICTION_SCHEMA
    assert inner.equals(inner.sort(PREDICTION_SCHEMA.names()[:6]))
    for fold in range(3):
        trained = out_of_memory.filter(pl.Series(of_run != fold))
        assert inner.filter(fold=fold)["run_id"].sort().equals(trained["run_id"].sort())


def test_each_fold_gets_a_threshold_from_its_training_side_or_abstains_from_everything(
    out_of_memory, successes, one_repeat, inner
):
    """The rules beside another method, which never abstains for a low confidence."""
    rules = ("improved_rules", IMPROVED_RULES, FEATURE_SETS)
    predictions = nested_cv(out_of_memory, successes, one_repeat, *rules, seed=5)
    unsure = pl.col("reason") == "low_confidence"
    monitored = predictions.with_columns(
        method=pl.lit("invariants"),
        prediction=pl.when(unsure).then(pl.lit("unknown")).otherwise("prediction"),
        reason=pl.when(unsure.not_()).then("reason"),
    )

    rows = (predictions, inner, monitored, predictions.with_columns(method=pl.lit("asked")))

    def study(settings: AbstentionSettings) -> dict[tuple[str, str, str], dict]:
        estimates = estimates_of(*rows, settings, INTERVALS)
        return {(row["part"], row["key"], row["metric"]): row for row in estimates.rows(named=True)}

    estimates = study(SETTINGS)
    assert estimates["chosen", "per_fold", "folds_with_a_threshold"]["value"] == 1
    tau = estimates["chosen", "per_fold", "tau"]
    assert tau["n"] == 3
    assert 0 < tau["ci_low"] <= tau["value"] <= tau["ci_high"] <= 1
    without = study(SETTINGS.model_copy(update={"precision": 0.999}))
    for metric in ("folds_with_a_threshold", "coverage"):
        assert without["chosen", "per_fold", metric]["value"] == 0
    for metric in ("tau", "accuracy_when_committed"):
        assert ("chosen", "per_fold", metric) not in without


def test_the_labels_of_tested_scenarios_have_no_part_in_the_choice(
    out_of_memory, successes, one_repeat, inner
):
    """With the labels of fold 0 exchanged, the threshold of fold 0 stays what it was."""
    swap = {"memory_hardware": "data_pipeline", "data_pipeline": "memory_hardware"}
    held = pl.col("scenario").is_in(one_repeat.filter(fold=0)["scenario"].to_list())
    exchanged = out_of_memory.with_columns(
        category=pl.when(held).then(pl.col("category").replace(swap)).otherwise("category")
    )
    other = measure(exchanged, successes, one_repeat, IMPROVED_RULES, "19", seed=5)
    before, after = (
        lowest_thresholds(predictions, SETTINGS.taus, 0.55, ("repeat", "fold"))
        for predictions in (inner, other)
    )
    assert before.row(0) == after.row(0)
    assert not before.equals(after)


# Hybrids.

COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
ROUTING = RoutingSettings(
    feature_set="19", step=0.25, human_costs=(0.2, 1.0), wrong_answer_costs=(0.0, 3.0), halves=200
)
BOUNDS = ("value", "ci_low", "ci_high")


def test_a_clear_optimum_is_found_in_every_resample_and_holds_on_the_other_half():
    """Rules are right above 0.5 and wrong below it; a person is always right."""
    category = [name for name in CATEGORIES for _ in range(8)]
    wrong = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))
    mistaken = [name if row % 2 == 0 else wrong[name] for row, name in enumerate(category)]
    rules, human = (
        small_predictions(category=category, prediction=given, confidence=sure * 20).with_columns(
            study=pl.lit("nested_cv")
        )
        for given, sure in ((mistaken, [0.9, 0.3]), (category, [0.9, 0.9]))
    )
    classifier = human.with_columns(prediction=pl.col("category").replace(wrong))
    members = {"classifier": classifier, "human": human}
    measured = HybridSettings(rules_from=0.75, classifier_from=0.5)
    found = best_thresholds(rules, members, measured, COSTS, ROUTING, INTERVALS)
    at = Estimates(found).where(human="1", wrong="3")
    for name in ("classifier_from", "rules_from"):
        assert [at.row(metric=name)[b] for b in BOUNDS] == [0.75] * 3
    assert at.value(metric="agreement") == 1
    promised, paid = (at.value(metric=f"cost_{half}_half") for half in ("own", "other"))
    assert promised == pytest.approx(paid, abs=0.01) == pytest.approx(0.5, abs=0.01)
