from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import DecisionTreeSettings
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import make_splits
from failbench.scenarios import Scenario, read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.sensitivity import results as module
from failbench.studies.sensitivity.results import (
    FAULTS_APART,
    INTERACTIONS,
    SensitivitySettings,
    sensitivity,
    sensitivity_metrics,
)

STUDY = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seed=0, seed=0
)
SETTINGS = SensitivitySettings(repeats=2, interactions=2, interaction_repeats=1)
INTERVALS = IntervalSettings(resamples=1000, confidence=0.95, wilson_from=0.9, seed=0)
METHODS = {
    "decision_tree": DecisionTreeSettings(inner_folds=2, max_depth=(3,), min_samples_leaf=(1,)),
    "ebm": EbmSettings(
        inner_folds=2,
        learning_rate=(0.08,),
        interactions=0,
        outer_bags=2,
        max_rounds=20,
        min_samples_leaf=2,
        max_bins=16,
        early_stopping_rounds=10,
    ),
}
SHARED = "killed_from_outside"


@pytest.fixture(scope="module")
def scenarios(failures: pl.DataFrame) -> tuple[Scenario, ...]:
    """A scenario for each that was made up; two of a category have one fault."""
    template = read_scenarios(Path("data/scenarios"))[0]
    names = failures["scenario"].unique().sort()
    return tuple(
        template.model_copy(
            update={
                "id": name,
                "fault": template.fault.model_copy(
                    update={"name": SHARED if name in ("unknown_0", "unknown_1") else name}
                ),
            }
        )
        for name in names
    )


@pytest.fixture(scope="module")
def splits(failures: pl.DataFrame) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 2, 2, seed=0)


@pytest.fixture(scope="module")
def main(failures: pl.DataFrame, successes: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    sets = {"19": FEATURE_SETS["19"]}
    of_seed = failures.filter(pl.col("seed") == 0)
    return pl.concat(
        nested_cv(of_seed, successes, splits, name, own, sets, STUDY.seed)
        for name, own in METHODS.items()
    )


@pytest.fixture(scope="module")
def run(failures, successes, splits, scenarios, main):
    features = pl.concat([failures, successes], how="vertical_relaxed")

    def build(settings: SensitivitySettings = SETTINGS, workers: int = 1) -> pl.DataFrame:
        return sensitivity(
            features, splits, scenarios, METHODS, main, STUDY, settings, INTERVALS, workers
        )

    return build


@pytest.fixture(scope="module")
def table(run) -> pl.DataFrame:
    return run()


def test_each_variant_has_its_methods_with_accuracy_and_difference(table):
    rows = table.select("variant", "method", "metric", "repeats", "n").rows()
    assert rows == [
        (FAULTS_APART, "decision_tree", "accuracy", 2, 30),
        (FAULTS_APART, "decision_tree", "difference", 2, 30),
        (INTERACTIONS, "ebm", "accuracy", 1, 30),
        (INTERACTIONS, "ebm", "difference", 1, 30),
    ]


def test_difference_is_to_the_same_repeats_of_the_main_study(table, main):
    for method, repeats in (("decision_tree", 2), ("ebm", 1)):
        mine = main.filter(pl.col("method") == method, pl.col("repeat") < repeats)
        known = (mine["prediction"] == mine["category"]).mean()
        values = dict(table.filter(pl.col("method") == method).select("metric", "value").rows())
        assert values["difference"] == pytest.approx(values["accuracy"] - known)


def test_scenarios_of_one_fault_are_never_on_both_sides(run, monkeypatch):
    seen = []
    predict = module.nested_cv

    def watched(failures, successes, splits, *others):
        seen.append((others[0], splits))
        return predict(failures, successes, splits, *others)

    monkeypatch.setattr(module, "nested_cv", watched)
    run()
    (tree, apart), (machine, folds) = seen
    assert (tree, machine) == ("decision_tree", "ebm")
    shared = pl.col("scenario").is_in(["unknown_0", "unknown_1"])
    places = apart.filter(shared).group_by("repeat").agg(pl.col("fold").n_unique())
    assert places["fold"].to_list() == [1, 1]
    assert folds["repeat"].unique().to_list() == [0]


def test_two_workers_give_the_bytes_of_one(run, table):
    assert run(workers=2).write_csv() == table.write_csv()


def test_metrics_are_scalars_by_variant_and_method(table):
    found = sensitivity_metrics(table)
    assert set(found) == {FAULTS_APART, INTERACTIONS}
    assert set(found[INTERACTIONS]["ebm"]) == {"accuracy", "difference"}
    assert set(found[INTERACTIONS]["ebm"]["accuracy"]) == {"value", "ci_low", "ci_high", "n"}


def test_more_repeats_than_the_main_study_has_are_refused(run):
    more = SETTINGS.model_copy(update={"repeats": 3})
    with pytest.raises(BadInputError, match="the main study has 2 repeats of decision_tree"):
        run(more)
