from functools import partial

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from failbench.base.errors import BadInputError
from failbench.base.method_settings import LearnedRulesSettings
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURES
from failbench.methods.healthy import healthy_band, percentile_band
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.improved_tree import TREE
from failbench.methods.learned_rules import learned_rules, rule_list
from failbench.methods.simple_rules import FALLBACK, SimpleRules

FULL = {"memory_warning": 1.0}


@pytest.fixture
def rules(context, run):
    return SimpleRules(context.band).fit(run(), np.array(["optimization"], dtype=object))


def test_a_run_that_no_rule_matches_is_called_optimization(rules, run):
    assert rules.predict(run()).tolist() == [FALLBACK] == ["optimization"]
    missing = run(**{feature.name: np.nan for feature in FEATURES})
    for nothing in (run(), missing):
        assert rules.diagnose(nothing)[0].evidence == ()


def test_documented_wording_that_no_recorded_run_has_is_recognised(rules, run):
    for error_type, message, category in (
        ("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate", "memory_hardware"),
        ("MemoryError", "", "memory_hardware"),
        ("RuntimeError", "CUDA error: device-side assert triggered", "data_pipeline"),
        ("JSONDecodeError", "Expecting value: line 1", "data_pipeline"),
        ("ValueError", "embed_dim must be divisible by num_heads", "model_software"),
        ("RuntimeError", "DataLoader worker (pid 7) is killed by signal: Killed.", "unknown"),
    ):
        assert rules.predict(run(error_type, message)).tolist() == [category]


@pytest.mark.parametrize(
    ("metric", "outside", "inside", "category"),
    [
        ("max_gradient_norm", 1000.1, 1000.0, "optimization"),
        ("perplexity", 10_001.0, 10_000.0, "data_pipeline"),
        ("oov_rate", 1.31, 1.29, "data_pipeline"),
        ("vocabulary_coverage", 0.69, 0.71, "data_pipeline"),
        ("memory_growth_rate", 1.31, 1.29, "memory_hardware"),
        ("max_loss", 1.31, 1.29, "optimization"),
        ("loss_trend", 1.31, 1.29, "optimization"),
    ],
)
def test_a_metric_past_its_threshold_is_evidence_and_one_just_inside_is_not(
    rules, run, metric, outside, inside, category
):
    beside = FULL if metric == "memory_growth_rate" else {}
    diagnosis = rules.diagnose(run(**beside, **{metric: outside}))[0]
    assert diagnosis.category == category
    assert {item.signal: item.value for item in diagnosis.evidence} == beside | {metric: outside}
    assert rules.diagnose(run(**beside, **{metric: inside}))[0].evidence == ()


def test_a_band_is_mean_and_sample_sd_or_percentiles_of_healthy_runs():
    band = healthy_band(pd.DataFrame({"oov_rate": [1.0, 2.0, 3.0, np.nan]}), ["oov_rate"])
    assert band.upper("oov_rate", 3) == pytest.approx(2 + 3 * 1.0)
    assert band.lower("oov_rate", 3) == pytest.approx(2 - 3 * 1.0)
    values = np.random.default_rng(0).normal(size=30)
    band = percentile_band(pd.DataFrame({"max_loss": values}), ["max_loss"], 0.99)
    assert band.upper("max_loss", 3) == pytest.approx(np.quantile(values, 0.99))
    assert band.lower("max_loss", 3) == pytest.approx(np.quantile(values, 0.01))

    alone = pd.DataFrame({"oov_rate": [np.nan] * 29 + [0.1]})
    for build in (healthy_band, partial(percentile_band, share=0.99)):
        with pytest.raises(BadInputError, match=r"oov_rate: only 1 of 30 runs have it"):
            build(alone, ["oov_rate"])


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


UNKNOWN_WITHOUT_VARIANCE = {"oov_rate": 2.0, "gradient_norm_variance": np.nan}


def test_abstains_below_tau_and_not_at_it_with_its_reason_and_confidence(fit, explosions, run):
    rows = [("memory_hardware", "a", OOM, FULL)]  # weights 1.5 / 2
    assert fit(*rows, tau=0.75).predict(run(*OOM, **FULL)).tolist() == ["memory_hardware"]
    for rules, frame, reason, confidence in (
        (fit(*rows, tau=0.76), run(*OOM, **FULL), "low_confidence", 0.75),
        (explosions, run(**EXPLODES), "low_confidence", 0),  # one signal is absent
        # of an incompatible category
        (explosions, run(**VOLATILE | {"oov_rate": 2.0}), "conflict", 4.5 / 6),
        (explosions, run(**VOLATILE | UNKNOWN_WITHOUT_VARIANCE), "missing", 0),
    ):
        (diagnosis,) = rules.diagnose(frame)
        assert (diagnosis.category, diagnosis.reason) == ("abstain", reason)
        assert diagnosis.confidence == pytest.approx(confidence)


SETTINGS = {"max_depth": 5, "inner_folds": 2, "max_leaf_nodes": [25], "min_samples_leaf": [1]}


def fitted(frame, labels, **changes):
    settings = LearnedRulesSettings.model_validate(SETTINGS | changes)
    return learned_rules(settings, tuple(frame.columns), seed=0).fit(frame, labels)


def noise(seed, n_runs=150):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_runs, 6)), columns=list("abcdef"))
    frame[rng.random(frame.shape) < 0.1] = np.nan
    return frame, rng.choice(np.array(CATEGORIES, dtype=object), n_runs)


@pytest.mark.parametrize("seed", range(4))
def test_the_list_reproduces_every_prediction_in_at_most_25_rules(seed):
    frame, labels = noise(seed)
    method = fitted(frame, labels, max_depth=12)  # so that the number of rules is what limits
    rules = rule_list(method)
    assert len(rules) == 25
    fresh = noise(seed + 100)[0]
    for runs in (frame, fresh):
        matrix = runs.fillna(frame.median())
        holds = np.ones((len(rules), len(matrix)), dtype=bool)
        for position, rule in enumerate(rules):
            for name, side, edge in rule.tests:
                above = (matrix[name] > edge).to_numpy()
                holds[position] &= above if side == "above" else ~above
        assert set(holds.sum(axis=0)) == {1}
        answers = [rules[position].category for position in holds.argmax(axis=0)]
        assert answers == method.predict(runs).tolist()


@pytest.mark.parametrize("leaves", [1, 26])
def test_more_than_25_rules_and_fewer_than_two_are_refused(leaves):
    with pytest.raises(ValidationError, match="max_leaf_nodes"):
        LearnedRulesSettings.model_validate(SETTINGS | {"max_leaf_nodes": [leaves]})
