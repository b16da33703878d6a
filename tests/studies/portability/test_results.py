"""Portability: what is trained at home and tested away, and how features are carried over."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import IntervalSettings
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.portability.rescaling import MOVED
from failbench.studies.portability.results import (
    ADAPTIVE,
    FIXED,
    HOME,
    RECALIBRATED,
    PortabilitySettings,
    portability_metrics,
    portability_study,
    portability_views,
)
from made_up_telemetry import made_up_scenarios, made_up_telemetry, together

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
INTERVALS = IntervalSettings(resamples=1000, confidence=0.95, wilson_from=0.9, seed=0)
TESTS = SignificanceSettings(
    feature_set="19",
    contrasts=(("a", "b"),),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.1,
    power=0.8,
    seed=0,
)
CONTRASTS = [["fixed", "home"], ["adaptive", "home"]]


def settings(**changed: object) -> PortabilitySettings:
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


@pytest.fixture(scope="module")
def telemetry():
    return together(made_up_telemetry("adamw", seeds=2), made_up_telemetry("sgd", scale=9.0))


@pytest.fixture(scope="module")
def views(telemetry):
    return portability_views(telemetry, made_up_scenarios(), settings())[0]


def test_only_scenarios_and_seeds_of_both_settings_are_taken(views):
    assert {name: table.height for name, table in views.items()} == dict.fromkeys(views, 20)
    assert {tuple(sorted(set(table["seed"]))) for table in views.values()} == {(0,)}


def test_features_stay_as_they_are_where_thresholds_are_fixed(views):
    ratio = views[FIXED]["max_gradient_norm"] / views[HOME]["max_gradient_norm"]
    assert ratio.to_numpy() == pytest.approx(9.0)


@pytest.mark.parametrize("condition", [RECALIBRATED, ADAPTIVE])
def test_a_change_of_scale_is_undone(views, condition):
    """The made-up runs of both optimizers differ by the factor on gradient norms alone."""
    home = views[HOME if condition == RECALIBRATED else "home_adaptive"]
    for name in ("max_gradient_norm", "mean_gradient_norm", "gradient_norm_variance"):
        assert views[condition][name].to_numpy() == pytest.approx(home[name].to_numpy(), rel=1e-4)


def test_what_is_no_measurement_is_never_moved(views):
    kept = [name for name in views[HOME].columns if name not in (*MOVED, "run_id", "optimizer")]
    for table in views.values():
        assert table.select(kept).equals(views[HOME].select(kept))


def test_a_setting_that_was_not_recorded_is_refused(telemetry):
    lacking = telemetry.select((pl.col("optimizer") == "adamw") | (pl.col("kind") != "success"))
    with pytest.raises(BadInputError, match="no success run of transformer with sgd"):
        portability_views(lacking, made_up_scenarios(), settings())


def test_early_history_must_end_before_the_earliest_onset(telemetry):
    with pytest.raises(BadInputError, match="starts at step 8, within the 9 steps"):
        portability_views(telemetry, made_up_scenarios(), settings(own_history_steps=9))


def test_the_study_compares_conditions_of_each_method_on_the_same_scenarios(telemetry):
    splits = make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0)
    methods = {"simple_rules": RULES}
    found = portability_study(
        telemetry, made_up_scenarios(), splits, methods, settings(), INTERVALS, TESTS
    )
    assert set(found.rates["n"]) == {20}
    contrasts = [one for one in found.comparisons if one.family == "contrast"]
    assert [(one.left, one.right) for one in contrasts] == [("fixed", "home"), ("adaptive", "home")]
    accuracy = dict(
        found.rates.filter(pl.col("metric") == "accuracy").select("condition", "value").iter_rows()
    )
    assert contrasts[0].difference == pytest.approx(accuracy["fixed"] - accuracy["home"])
    leaves = portability_metrics(found, 0.05)
    assert leaves["rates"]["simple_rules"]["home"]["accuracy"]["value"] == accuracy["home"]
    assert set(leaves["contrasts"]["simple_rules"]) == {"fixed_less_home", "adaptive_less_home"}
