import numpy as np
import pandas as pd
import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.improved_tree import TREE

OOM = ("RuntimeError", "DefaultCPUAllocator: can't allocate memory")
FULL, AT_ONCE = {"memory_warning": 1.0}, {"steps_before_failure": 1.0}
EXPLODES = {"max_gradient_norm": 1500.0, "max_loss": 2.0, "steps_before_failure": 200.0}
VOLATILE = EXPLODES | {"gradient_norm_variance": 2.0}
"""Reach the leaf whose signals are the limit of the norm, its variance and the loss."""


def weights_of(method, name):
    names = [leaf.name for leaf in TREE.leaves]
    return method.weights_[names.index(name)].tolist()


@pytest.fixture
def fit(context, run):
    """Fits the rules to runs given as (category, scenario, error text, features)."""

    def build(*rows, grouped=True, **settings):
        frames = [run(*text, **features) for _, _, text, features in rows]
        labels = np.array([category for category, *_ in rows], dtype=object)
        groups = np.array([scenario for _, scenario, *_ in rows], dtype=object)
        method = ImprovedRules(context.band, **settings)
        return method.fit(pd.concat(frames), labels, groups if grouped else None)

    return build


@pytest.fixture
def explosions(fit):
    """Five scenarios explode, one of them not for its optimization; three are volatile."""
    volatile = [("optimization", scenario, (), VOLATILE) for scenario in "abc"]
    others = ("optimization", "d", (), EXPLODES), ("data_pipeline", "e", (), EXPLODES)
    return fit(*volatile, *others)


def test_a_weight_is_the_precision_at_the_leaf_under_jeffreys_prior(explosions):
    # norm and loss: 4 of 5 right; variance: 3 of 3
    expected = [4.5 / 6, 3.5 / 4, 4.5 / 6]
    assert weights_of(explosions, "explosion_that_the_loss_follows") == pytest.approx(expected)


def test_the_runs_of_a_scenario_weigh_one_in_all(fit):
    rows = [("data_pipeline", "a", OOM, FULL)] * 3
    rows += [("memory_hardware", scenario, OOM, FULL) for scenario in "bc"]
    name = "out_of_memory_near_capacity"
    assert weights_of(fit(*rows), name) == pytest.approx([2.5 / 4] * 2)
    assert weights_of(fit(*rows, grouped=False), name) == pytest.approx([2.5 / 6] * 2)


def test_where_no_training_run_reaches_a_leaf_its_signals_are_weighed_wherever_they_hold(fit):
    rules = fit(
        ("memory_hardware", "a", OOM, AT_ONCE),
        ("model_software", "b", OOM, AT_ONCE),
        ("memory_hardware", "c", (), FULL),
    )
    # OUT_OF_MEMORY: 1 of 2 right; NEAR_CAPACITY: 1 of 1
    expected = [1.5 / 3, 1.5 / 2]
    assert weights_of(rules, "out_of_memory_near_capacity") == pytest.approx(expected)


def test_abstains_below_tau_and_not_at_it(fit, run):
    rows = [("memory_hardware", "a", OOM, FULL)]  # weights 1.5 / 2
    assert fit(*rows, tau=0.75).predict(run(*OOM, **FULL)).tolist() == ["memory_hardware"]
    (diagnosis,) = fit(*rows, tau=0.76).diagnose(run(*OOM, **FULL))
    assert (diagnosis.category, diagnosis.reason) == ("abstain", "low_confidence")
    assert diagnosis.confidence == 0.75


@pytest.mark.parametrize(
    ("features", "reason", "confidence"),
    [
        (EXPLODES, "low_confidence", 0),  # one signal is absent
        (VOLATILE | {"oov_rate": 2.0}, "conflict", 4.5 / 6),  # of an incompatible category
        (VOLATILE | {"oov_rate": 2.0, "gradient_norm_variance": np.nan}, "missing", 0),
    ],
)
def test_abstains_with_its_reason_and_confidence(explosions, run, features, reason, confidence):
    (diagnosis,) = explosions.diagnose(run(**features))
    assert (diagnosis.category, diagnosis.reason) == ("abstain", reason)
    assert diagnosis.confidence == pytest.approx(confidence)


def test_probabilities_spread_what_the_confidence_leaves_over_all_categories(explosions, run):
    (probabilities,) = explosions.predict_proba(run(**VOLATILE))
    expected = dict.fromkeys(CATEGORIES, 0.25 / 5) | {"optimization": 0.75 + 0.25 / 5}
    assert dict(zip(CATEGORIES, probabilities, strict=True)) == pytest.approx(expected)


def test_perplexity_is_catastrophic_above_400_once_there_was_training(fit, run):
    later = {"steps_before_failure": 200.0}
    rules = fit(("data_pipeline", "a", (), {"perplexity": 401.0} | later))
    assert rules.predict(run(perplexity=400.1, **later)).tolist() == ["data_pipeline"]
    assert rules.predict(run(perplexity=400.0, **later)).tolist() == ["abstain"]
    assert rules.diagnose(run(perplexity=400.1))[0].reason == "missing"


def test_thresholds_come_from_healthy_runs_and_settings_and_not_from_failures(explosions, fit):
    assert explosions.tree_ == fit(("unknown", "z", (), {"max_loss": 77.0})).tree_
    assert explosions.tree_ != fit(("unknown", "z", (), {}), healthy_sds=2).tree_


def test_recalibrated_rules_keep_their_weights_and_take_other_thresholds(explosions, context, run):
    wider = HealthyBand(context.band.mean, dict.fromkeys(context.band.sd, 10.0))
    changed = explosions.recalibrated(wider, gradient_norm=1200.0)
    assert changed.weights_ is explosions.weights_
    assert explosions.gradient_norm == 1000
    assert changed.predict(run(**VOLATILE)).tolist() == ["abstain"]  # inside the wider band
    same = explosions.recalibrated(context.band, gradient_norm=1000.0)
    assert same.tree_ == explosions.tree_
    assert same.predict(run(**VOLATILE)).tolist() == explosions.predict(run(**VOLATILE)).tolist()
