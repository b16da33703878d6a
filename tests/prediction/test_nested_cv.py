"""The cross-validation that every method goes through: what it predicts, and what it never sees."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from controls import leak_test
from failbench.base.errors import BadInputError
from failbench.base.method_settings import (
    DecisionTreeSettings,
    HybridSettings,
    SimulatedHumanSettings,
    SkillLevel,
)
from failbench.base.methods import ENTRIES, FEATURE_METHODS
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Record
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, POOLED
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.hybrid import Hybrid, HybridSections, HybridTwoWay
from failbench.prediction import nested_cv as harness
from failbench.prediction import splits as fold_plans
from failbench.prediction.hybrids import compose
from failbench.prediction.nested_cv import across_architectures, nested_cv
from failbench.prediction.splits import by_architecture, by_scenario, make_splits
from measure_controls import planted_predictions
from study_settings import ACROSS, FOREST, IMPROVED_RULES


@pytest.fixture(scope="module")
def predict(failures, successes, splits):
    def run(method, settings=FOREST, **options) -> pl.DataFrame:
        asked = (failures, successes, splits, method, settings, FEATURE_SETS)
        return nested_cv(*asked, seed=5, **options)

    return run


def test_each_run_is_predicted_once_whatever_the_workers(predict, failures):
    predictions = predict("random_forest")
    assert predictions.schema == PREDICTION_SCHEMA
    key = ["study", "feature_set", "method", "repeat", "run_id"]
    assert not predictions.select(key).is_duplicated().any()
    assert predictions.height == failures.height * 2 * len(FEATURE_SETS)
    assert predictions.equals(predictions.sort(PREDICTION_SCHEMA.names()[:6]))
    total = predictions.select(pl.sum_horizontal(pl.col("^p_.*$"))).to_series()
    assert total.to_numpy() == pytest.approx(1, abs=1e-5)
    for row in predictions.iter_rows(named=True):
        assert row["confidence"] == row[f"p_{row['prediction']}"]
    assert predict("random_forest", workers=2).write_csv() == predictions.write_csv()


class _TestsButTrainsOnAll(np.ndarray):
    """A mask of tested rows whose complement, the training rows, is everything."""

    def __invert__(self):
        return np.ones(len(self), dtype=bool)


def test_nothing_of_the_tested_runs_reaches_the_training_and_a_leak_is_found(
    failures, successes, splits, monkeypatch
):
    result = leak_test(planted_predictions(failures, successes, splits, seed=0))
    assert result["identical_predictions"]
    assert result["positive_control_accuracy"] >= 0.99
    honest = fold_plans.rows_in_fold
    monkeypatch.setattr(
        fold_plans, "rows_in_fold", lambda *arguments: honest(*arguments).view(_TestsButTrainsOnAll)
    )
    planted = planted_predictions(failures, successes, splits, seed=0)
    assert not leak_test(planted)["identical_predictions"]


def test_a_simulation_is_handed_the_answers_it_is_asked(predict, failures, monkeypatch):
    contexts: list[Context] = []
    declared = method_named("simulated_human")

    def build(settings, context):
        contexts.append(context)
        return declared.build(settings, context)

    monkeypatch.setattr(harness, "method_named", lambda _: replace(declared, build=build))
    levels = {"expert": {"share": 1.0, "accuracy": 1.0}}
    settings = SimulatedHumanSettings.model_validate({"levels": levels})
    predictions = predict("simulated_human", settings)
    assert (predictions["prediction"] == predictions["category"]).all()
    truth = dict(failures.select("run_id", "category").iter_rows())
    assert all(context.true_categories.items() <= truth.items() for context in contexts)
    asked = sum(len(context.true_categories) for context in contexts)
    assert asked == len(truth) * 2 * len(FEATURE_SETS)


@pytest.mark.parametrize(
    "name", [name for name in FEATURE_METHODS if not ENTRIES[name].reads_true_category]
)
def test_no_method_that_diagnoses_is_handed_answers(name, predict, monkeypatch):
    class BuiltError(Exception):
        """Ends the study once the method is to be built: only its context matters here."""

    def build(settings, context):
        raise BuiltError(dict(context.true_categories))

    declaration = replace(method_named(name), build=build)
    monkeypatch.setattr(harness, "method_named", lambda _: declaration)
    with pytest.raises(BuiltError) as stopped:
        predict(name)
    assert stopped.value.args == ({},)


TREE = DecisionTreeSettings(inner_folds=2, max_depth=(4,), min_samples_leaf=(1,))


@pytest.fixture(scope="module")
def features(runs_of_three_architectures: pl.DataFrame) -> pl.DataFrame:
    """The runs that the studies take, and the same again with what they leave alone."""
    table = runs_of_three_architectures
    others = [
        table.with_columns(pl.lit(value).alias(column), run_id=pl.format("{}-" + value, "run_id"))
        for column, value in (("optimizer", "sgd"), ("scale", "paper"))
    ]
    return pl.concat([table, *others])


@pytest.fixture(scope="module")
def folds(features: pl.DataFrame) -> pl.DataFrame:
    return make_splits(features.select("scenario", "category").drop_nulls().unique(), 2, 2, seed=0)


def test_each_run_is_predicted_once_and_pooling_is_the_main_study(
    features, folds, runs_of_three_architectures
):
    across = across_architectures(features, folds, "decision_tree", TREE, ACROSS)
    of_kind = runs_of_three_architectures.partition_by("kind", as_dict=True)
    failing, healthy = of_kind["failure",], of_kind["success",]
    known = failing.filter(seed=ACROSS.known_seed)
    for study, runs in ((POOLED, failing), (LEFT_OUT, failing), (KNOWN_SCENARIOS, known)):
        assert sorted(across.filter(study=study)["run_id"]) == sorted(runs["run_id"])
    sets, first = {"19": FEATURE_SETS["19"]}, folds.filter(repeat=0)
    main = nested_cv(failing, healthy, first, "decision_tree", TREE, sets, ACROSS.seed)
    assert across.filter(study=POOLED).drop("study").equals(main.drop("study"))
    assert set(main["study"]) == {"nested_cv"}
    gru = features.filter(architecture="gru")
    complaint = r"1 architecture was recorded with adamw at scale small; leaving one out takes two"
    with pytest.raises(BadInputError, match=complaint):
        across_architectures(gru, folds, "decision_tree", TREE, ACROSS)


def test_thresholds_never_come_from_the_architecture_that_is_left_out(features, folds, monkeypatch):
    """Successful runs say whose they are, and bands are watched as methods receive them."""
    marks = {"bert": 1e3, "gru": 1e6, "lstm": 1e9}
    mark = pl.col("architecture").replace_strict(marks, return_dtype=pl.Float64)
    healthy = pl.when(pl.col("kind") == "success")
    marked = features.with_columns(oov_rate=healthy.then(mark).otherwise("oov_rate"))
    bands: list[float] = []
    build = harness.Context

    def note(*arguments, **options):
        context = build(*arguments, **options)
        bands.append(context.band.mean["oov_rate"])
        return context

    monkeypatch.setattr(harness, "Context", note)
    across_architectures(marked, folds, "decision_tree", TREE, ACROSS)
    first = folds.filter(repeat=0)
    plans = (*by_scenario(POOLED, first), *by_architecture(first, marks, ACROSS.known_seed))
    for band, plan in zip(bands, plans, strict=True):
        expected = np.mean([mark for name, mark in marks.items() if name != plan.left_out])
        assert band == pytest.approx(expected)


def test_methods_learn_from_known_scenarios_and_no_tested_run(features, folds):
    """A column that names the scenario tells nothing of a new one, and everything of a known."""
    values = dict.fromkeys(FEATURE_SETS["19"], pl.lit(0.0))
    values["max_loss"] = pl.col("scenario").rank("dense").cast(pl.Float64)
    failed = pl.when(pl.col("kind") == "failure")
    leaking = features.with_columns(
        failed.then(value).otherwise(name).alias(name) for name, value in values.items()
    )
    deep = TREE.model_copy(update={"max_depth": (None,)})
    across = across_architectures(leaking, folds, "decision_tree", deep, ACROSS)
    right = (pl.col("prediction") == pl.col("category")).mean()
    accuracy = dict(across.group_by("study").agg(right=right).iter_rows())
    assert accuracy[KNOWN_SCENARIOS] == 1
    assert accuracy[LEFT_OUT] < 1


# Hybrids are composed of what their members predicted.

SECTIONS = HybridSections(
    hybrid=HybridSettings(rules_from=0.85, classifier_from=0.6),
    improved_rules=IMPROVED_RULES,
    random_forest=FOREST,
    simulated_human=SimulatedHumanSettings(levels={"expert": SkillLevel(share=1, accuracy=0.9)}),
)


def test_a_composed_hybrid_predicts_what_the_fitted_hybrid_does(
    out_of_memory, successes, one_repeat
):
    def predict(name: str, settings: Record) -> pl.DataFrame:
        return nested_cv(out_of_memory, successes, one_repeat, name, settings, FEATURE_SETS, seed=5)

    rules = predict("improved_rules", SECTIONS.improved_rules)
    members = {
        "classifier": predict("random_forest", SECTIONS.random_forest),
        "human": predict("simulated_human", SECTIONS.simulated_human),
    }
    composed = compose("hybrid", Hybrid(None, None, None), rules, members)
    assert composed["route"].n_unique() > 1
    assert composed.equals(predict("hybrid", SECTIONS))
    # the two-way hybrid hands on every abstention
    two_way = compose("hybrid_two_way", HybridTwoWay(None, None), rules, members)
    assert (two_way.schema, two_way.height) == (PREDICTION_SCHEMA, rules.height)
    assert "abstain" not in set(two_way["prediction"])
    abstained = rules["prediction"] == "abstain"
    assert (two_way["route"] == "classifier").to_list() == abstained.to_list()
    short = {**members, "human": members["human"].head(3)}
    with pytest.raises(BadInputError, match="that hybrid hands on are missing"):
        compose("hybrid", Hybrid(None, None, None), rules, short)
