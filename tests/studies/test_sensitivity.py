from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import measure_sensitivity as module
from failbench.base.errors import BadInputError
from failbench.base.method_settings import DecisionTreeSettings, EbmSettings
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.base.slices import ReferenceStudy
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import ScenarioIntervalSettings
from sensitivity import estimates
from shared.sensitivity import FAULTS_APART, INTERACTIONS, ONE_SEED, SensitivitySettings

STUDY = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0, 1), seed=0
)
SETTINGS = SensitivitySettings(repeats=2, run_seed=0, interactions=2, interaction_repeats=1)
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
    return pl.concat(
        nested_cv(failures, successes, splits, name, declared, sets, STUDY.seed)
        for name, declared in DECLARED.items()
    )


@pytest.fixture(scope="module")
def run(failures, successes, splits, scenarios):
    features = pl.concat([failures, successes], how="vertical_relaxed")

    def predict(settings: SensitivitySettings = SETTINGS, workers: int = 1) -> pl.DataFrame:
        predictions = module.measure(
            features, splits, scenarios, DECLARED, STUDY, settings, workers
        )
        return pl.concat(predictions.values())

    return predict


@pytest.fixture(scope="module")
def predictions(run) -> pl.DataFrame:
    return run()


@pytest.fixture(scope="module")
def table(predictions, main) -> pl.DataFrame:
    return estimates(predictions, main, INTERVALS)


def test_difference_is_to_the_same_repeats_and_runs_of_the_main_study(table, main):
    for variant, method, repeats, seeds in (
        (ONE_SEED, "ebm", 2, 1),
        (FAULTS_APART, "decision_tree", 2, 2),
        (INTERACTIONS, "ebm", 1, 2),
    ):
        known = main.filter(
            pl.col("method") == method, pl.col("repeat") < repeats, pl.col("seed") < seeds
        )
        right = (known["prediction"] == known["category"]).mean()
        rows = table.filter(variant=variant, method=method).select("metric", "value").rows()
        values = dict(rows)
        assert values["difference"] == pytest.approx(values["accuracy"] - right)


def test_one_run_per_scenario_is_trained_on_and_tested(run, predictions, monkeypatch):
    of_one = predictions.filter(study=ONE_SEED)
    assert of_one["seed"].unique().to_list() == [SETTINGS.run_seed]
    trained = []
    predict = module.nested_cv

    def watched(failures, *others):
        trained.append(failures["seed"].unique().sort().to_list())
        return predict(failures, *others)

    monkeypatch.setattr(module, "nested_cv", watched)
    run()
    assert trained == [[0], [0], [0, 1], [0, 1]]


def test_a_seed_that_the_main_study_lacks_is_refused(run):
    with pytest.raises(BadInputError, match=r"sensitivity\.run_seed: .* no runs of seed 7"):
        run(SETTINGS.model_copy(update={"run_seed": 7}))


def test_scenarios_of_one_fault_are_never_on_both_sides(run, monkeypatch):
    seen = []
    predict = module.nested_cv

    def watched(failures, successes, splits, *others):
        seen.append((others[0], splits))
        return predict(failures, successes, splits, *others)

    monkeypatch.setattr(module, "nested_cv", watched)
    run()
    (tree, apart), (machine, folds) = seen[2:]
    assert (tree, machine) == ("decision_tree", "ebm")
    shared = pl.col("scenario").is_in(["unknown_0", "unknown_1"])
    places = apart.filter(shared).group_by("repeat").agg(pl.col("fold").n_unique())
    assert places["fold"].to_list() == [1, 1]
    assert folds["repeat"].unique().to_list() == [0]
