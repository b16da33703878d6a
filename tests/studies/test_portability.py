"""Portability: which runs are taken, how features are carried over, and what is compared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import Telemetry, categories_of
from failbench.methods.healthy import MOVED, RATIOS, band_of, changes, recalibrated
from failbench.methods.improved_tree import all_band_features
from failbench.methods.monitor_methods import NoSettings
from failbench.prediction.splits import make_splits
from failbench.statistics.significance import ComparisonSettings
from made_up_known import made_up_known
from made_up_telemetry import made_up_scenarios, made_up_telemetry, together
from measure_portability import TRAINED, condition_tables, measure
from portability import contrasts
from shared.portability import ADAPTIVE, HOME, RECALIBRATED, PortabilitySettings

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
TESTS = ComparisonSettings(
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.1,
    power=0.8,
    seed=0,
)
CONTRASTS = [["fixed", "home"], ["adaptive", "home"]]


def portability_settings(**changed: object) -> PortabilitySettings:
    """A small study of two optimizers; whatever a test is about it names."""
    values: dict[str, object] = {
        "home": {"architecture": "transformer", "optimizer": "adamw", "scale": "small"},
        "away": {"architecture": "transformer", "optimizer": "sgd", "scale": "small"},
        "own_history_steps": 6,
        "repeats": 1,
        "contrasts": CONTRASTS,
        "seed": 0,
        "logistic_regression": {"inner_folds": 2, "inverse_penalty": [1], "max_iterations": 99},
        "random_forest": {
            "trees": 2,
            "inner_folds": 2,
            "max_features": ["sqrt"],
            "min_samples_leaf": [1],
        },
    }
    return PortabilitySettings.model_validate(values | changed)


def two_optimizers() -> Telemetry:
    """Two seeds at home and one away, where gradient norms are nine times as large."""
    return together(made_up_telemetry("adamw", seeds=2), made_up_telemetry("sgd", scale=9.0))


@pytest.fixture(scope="module")
def telemetry():
    return two_optimizers()


@pytest.fixture(scope="module")
def predictions(telemetry):
    splits = make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0)
    return measure(
        telemetry,
        made_up_scenarios(),
        splits,
        {"simple_rules": RULES},
        portability_settings(),
    )


@pytest.fixture(scope="module")
def of_monitor(telemetry):
    """What methods on what the monitor knows predict; bounds of AdamW are lent to SGD."""
    labelled = telemetry.runs.join(categories_of(made_up_scenarios()), on="scenario", how="left")
    settings = portability_settings()
    known = made_up_known(
        labelled.filter(kind="failure"), ("transformer-adamw",), ("transformer-adamw",)
    )
    return measure(
        telemetry,
        made_up_scenarios(),
        make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0),
        {"invariants": NoSettings(), "forest_on_invariants": settings.random_forest},
        settings,
        known=known,
    )


@pytest.fixture(scope="module")
def tables(telemetry):
    return condition_tables(telemetry, made_up_scenarios(), portability_settings())[0]


def test_only_scenarios_and_seeds_of_both_settings_are_taken(tables):
    assert {name: table.height for name, table in tables.items()} == dict.fromkeys(tables, 20)
    assert {tuple(sorted(set(table["seed"]))) for table in tables.values()} == {(0,)}


@pytest.mark.parametrize("condition", [RECALIBRATED, ADAPTIVE])
def test_a_change_of_scale_is_undone(tables, condition):
    """The made-up runs of both optimizers differ by the factor on gradient norms alone."""
    home = tables[HOME if condition == RECALIBRATED else "home_adaptive"]
    for name in ("max_gradient_norm", "mean_gradient_norm", "gradient_norm_variance"):
        assert tables[condition][name].to_numpy() == pytest.approx(home[name].to_numpy(), rel=1e-4)


def test_a_setting_that_was_not_recorded_is_refused(telemetry):
    lacking = telemetry.select((pl.col("optimizer") == "adamw") | (pl.col("kind") != "success"))
    with pytest.raises(BadInputError, match="no success run of transformer with sgd"):
        condition_tables(lacking, made_up_scenarios(), portability_settings())


def test_early_history_must_end_before_the_earliest_onset(telemetry):
    settings = portability_settings(own_history_steps=9)
    with pytest.raises(BadInputError, match="starts at step 8, within the 9 steps"):
        condition_tables(telemetry, made_up_scenarios(), settings)


def test_a_run_is_predicted_in_every_condition_of_its_optimizer(predictions, telemetry):
    assert predictions.columns == [*PREDICTION_SCHEMA.names(), "condition"]
    conditions = {condition for tested in TRAINED.values() for condition in tested}
    assert set(predictions["condition"]) == conditions
    assert not predictions.select("run_id", "repeat", "condition").is_duplicated().any()
    optimizers = dict(predictions.select("condition", "optimizer").unique().iter_rows())
    assert optimizers == {
        "home": "adamw",
        "home_adaptive": "adamw",
        "fixed": "sgd",
        "recalibrated": "sgd",
        "adaptive": "sgd",
    }
    assert set(predictions["run_id"]) <= set(telemetry.runs["run_id"])


@pytest.fixture(scope="module")
def home(successes):
    positive = [pl.col(name).abs() + 1.0 for name in RATIOS]
    return successes.with_columns(positive)


@pytest.fixture(scope="module")
def early(home):
    return home.with_columns(pl.col(name) * 0.5 for name in MOVED)


def test_every_feature_that_a_threshold_of_the_rules_is_on_is_moved():
    assert set(all_band_features()) <= set(MOVED)


def test_recalibrating_undoes_a_change_of_scale(home):
    away = home.with_columns(pl.col(name) * 7 + 3 for name in MOVED)
    moved = recalibrated(away, band_of(away), band_of(home))
    for name in MOVED:
        assert moved[name].to_numpy() == pytest.approx(home[name].to_numpy())
    assert moved.drop(MOVED).equals(home.drop(MOVED))


def test_changes_are_ratios_where_the_optimizer_sets_the_scale(home, early):
    changed = changes(home, early)
    assert changed["max_gradient_norm"].to_numpy() == pytest.approx(np.log(2))
    assert changed["mean_loss"].to_numpy() == pytest.approx(home["mean_loss"].to_numpy() / 2)


def test_adapting_does_not_see_a_factor_on_all_gradient_norms(home, early):
    rng = np.random.default_rng(0)
    then = early.with_columns(max_gradient_norm=pl.Series(rng.uniform(1, 2, early.height)))
    healthy, reference = band_of(changes(home, then)), band_of(home)
    factor = pl.col("max_gradient_norm") * 50
    moved = recalibrated(home.with_columns(factor), healthy, reference, then.with_columns(factor))
    as_it_was = recalibrated(home, healthy, reference, then)
    assert moved["max_gradient_norm"].to_numpy() == pytest.approx(
        as_it_was["max_gradient_norm"].to_numpy()
    )


def test_a_run_without_early_history_keeps_its_features(home, early):
    rng = np.random.default_rng(0)
    then = early.with_columns(mean_loss=pl.Series(rng.uniform(1, 2, early.height)))
    healthy, reference = band_of(changes(home, then)), band_of(home)
    moved = recalibrated(home, healthy, reference, then.head(1))
    kept = home.filter(~pl.col("run_id").is_in(then.head(1)["run_id"].to_list()))
    assert (
        moved.join(kept, on="run_id", how="semi")
        .select("mean_loss")
        .equals(kept.select("mean_loss"))
    )


def test_conditions_of_each_method_are_compared_on_the_same_scenarios(predictions):
    compared = contrasts(predictions, portability_settings().contrasts, TESTS)
    assert [(each.left, each.right) for each in compared] == [
        ("fixed", "home"),
        ("adaptive", "home"),
    ]
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
    accuracy = dict(right.group_by("condition").agg(pl.col("right").mean()).iter_rows())
    assert compared[0].difference == pytest.approx(accuracy["fixed"] - accuracy["home"])


def test_methods_of_the_monitor_carry_bounds_over_and_adapt_to_no_history(of_monitor):
    invariants = of_monitor.filter(method="invariants")
    right = invariants.with_columns(right=pl.col("prediction") == pl.col("category"))
    accuracy = dict(right.group_by("condition").agg(pl.col("right").mean()).iter_rows())
    # waiting is bounded where bounds are fitted or lent, and SGD has none of its own
    assert accuracy == {"home": 1.0, "fixed": 1.0, "recalibrated": pytest.approx(0.8)}
    compared = contrasts(invariants, portability_settings().contrasts, TESTS)
    assert [(each.left, each.right) for each in compared] == [("fixed", "home")]
