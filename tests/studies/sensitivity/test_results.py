from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from equal_reports import assert_equal_reports
from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import DecisionTreeSettings
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import make_splits
from failbench.scenarios import Scenario, read_scenarios
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.sensitivity import measure as module
from failbench.studies.sensitivity.measure import measure
from failbench.studies.sensitivity.report import report
from failbench.studies.sensitivity.results import sensitivity_estimates
from failbench.studies.sensitivity.settings import (
    FAULTS_APART,
    INTERACTIONS,
    SensitivitySettings,
)
from failbench.telemetry import write_parquet

STUDY = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seed=0, seed=0
)
SETTINGS = SensitivitySettings(repeats=2, interactions=2, interaction_repeats=1)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
DECLARED = {
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
        nested_cv(of_seed, successes, splits, name, declared, sets, STUDY.seed)
        for name, declared in DECLARED.items()
    )


@pytest.fixture(scope="module")
def run(failures, successes, splits, scenarios):
    features = pl.concat([failures, successes], how="vertical_relaxed")

    def predict(settings: SensitivitySettings = SETTINGS, workers: int = 1) -> pl.DataFrame:
        predictions = measure(features, splits, scenarios, DECLARED, STUDY, settings, workers)
        return pl.concat(predictions.values())

    return predict


@pytest.fixture(scope="module")
def predictions(run) -> pl.DataFrame:
    return run()


@pytest.fixture(scope="module")
def table(predictions, main) -> pl.DataFrame:
    return sensitivity_estimates(predictions, main, INTERVALS)


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
        first = main.filter(pl.col("method") == method, pl.col("repeat") < repeats)
        known = (first["prediction"] == first["category"]).mean()
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


def test_two_workers_give_the_bytes_of_one(run, predictions):
    assert run(workers=2).write_csv() == predictions.write_csv()


def test_metrics_are_scalars_by_variant_and_method(predictions, main):
    metrics = report(predictions, main, SETTINGS, INTERVALS).metrics
    assert set(metrics) == {FAULTS_APART, INTERACTIONS}
    assert set(metrics[INTERACTIONS]["ebm"]) == {"accuracy", "difference"}
    assert set(metrics[INTERACTIONS]["ebm"]["accuracy"]) == {"value", "ci_low", "ci_high", "n"}


def test_a_report_of_saved_predictions_is_that_of_those_in_memory(predictions, main, tmp_path):
    for method in DECLARED:
        write_parquet(predictions.filter(method=method), tmp_path / f"{method}.parquet")
    saved = pl.concat(pl.read_parquet(tmp_path / f"{name}.parquet") for name in sorted(DECLARED))
    assert_equal_reports(
        report(predictions, main, SETTINGS, INTERVALS), report(saved, main, SETTINGS, INTERVALS)
    )


def test_variants_whose_repeats_the_main_study_lacks_are_refused(predictions, main):
    single = main.filter(pl.col("repeat") == 0)
    with pytest.raises(BadInputError, match="the main study has 1 repeats of decision_tree"):
        sensitivity_estimates(predictions, single, INTERVALS)
    with pytest.raises(BadInputError, match=r"Lower sensitivity\.repeats in params\.yaml"):
        sensitivity_estimates(predictions, single, INTERVALS)
    none = main.clear()
    with pytest.raises(BadInputError, match=r"Lower sensitivity\.interaction_repeats"):
        sensitivity_estimates(predictions.filter(study=INTERACTIONS), none, INTERVALS)


def test_more_repeats_of_the_folds_than_there_are_is_refused(run):
    more = SETTINGS.model_copy(update={"interaction_repeats": 3})
    match = r"sensitivity\.interaction_repeats: 3 are wanted, and the splits have 2\."
    with pytest.raises(BadInputError, match=match):
        run(more)
