import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.peers.rules import (
    ALARM_SCHEMA,
    peer_rules,
    rule_of,
    rule_peers,
    rule_signals,
    rules_of,
    watched,
)
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA, issues_of, refuse_unmapped
from smooth_run import NAN, PARAMETERS, from_step, healthy, only_at

APPLICABLE = [rule for rule in peer_rules() if rule.applies]
TRIPPED = {
    ("autotrainer", "nan_loss.train"): {"loss": from_step(100, NAN)},
    ("autotrainer", "nan_loss.validation"): {"validation_loss": from_step(100, NAN)},
    ("autotrainer", "nan_loss.large_train"): {"loss": from_step(100, 5e3)},
    ("autotrainer", "nan_loss.large_validation"): {"validation_loss": from_step(100, 5e3)},
    ("autotrainer", "abnormal_loss"): {"loss": from_step(100, -1.0)},
    ("autotrainer", "nan_gradient"): {"gradient_norm": from_step(100, NAN)},
    ("autotrainer", "explode_gradient"): {"gradient_norm": only_at(110, 1e4)},
    ("autotrainer", "vanish_gradient"): {"gradient_norm": from_step(100, 1e-5)},
    ("deeplocalize", "loss.invalid"): {"loss": from_step(100, float("inf"))},
    ("deeplocalize", "loss.unchanged"): {"loss": from_step(100, 3.0)},
    ("deeplocalize", "delta_weights.invalid"): {"gradient_norm": from_step(100, NAN)},
    ("deeplocalize", "delta_weights.zero"): {"gradient_norm": from_step(100, 0.0)},
    ("deeplocalize", "delta_weights.unchanged"): {"gradient_norm": from_step(100, 0.3)},
    ("deepdiagnosis", "loss.invalid"): {"loss": from_step(100, NAN)},
    ("deepdiagnosis", "loss.unchanged"): {"loss": from_step(100, 3.0)},
    ("deepdiagnosis", "delta_weights.invalid"): {"gradient_norm": from_step(100, NAN)},
    ("deepdiagnosis", "delta_weights.zero"): {"gradient_norm": from_step(100, 0.0)},
    ("deepdiagnosis", "vanishing_gradient"): {"gradient_norm": from_step(100, 1e-5)},
    ("umlaut", "nan_loss"): {"loss": from_step(100, NAN)},
    ("umlaut", "lr_high"): {"learning_rate": from_step(100, 0.02)},
    ("umlaut", "lr_low"): {"learning_rate": from_step(100, 1e-8)},
    ("umlaut", "overfitting"): {"validation_loss": from_step(100, lambda at: 3.5 + at / 100)},
    ("sagemaker_debugger", "ExplodingTensor.loss"): {"loss": from_step(100, NAN)},
    ("sagemaker_debugger", "ExplodingTensor.gradients"): {"gradient_norm": from_step(100, NAN)},
    ("sagemaker_debugger", "VanishingGradient"): {"gradient_norm": from_step(100, 1e-5)},
    ("sagemaker_debugger", "AllZero"): {"gradient_norm": from_step(100, 0.0)},
    ("sagemaker_debugger", "UnchangedTensor"): {"loss": from_step(100, 3.0)},
    ("sagemaker_debugger", "LossNotDecreasing.increase"): {"loss": from_step(100, 9.0)},
    ("sagemaker_debugger", "LossNotDecreasing.decrease"): {"loss": from_step(100, 3.0)},
    ("sagemaker_debugger", "Overfit"): {"validation_loss": from_step(100, 6.0)},
    ("sagemaker_debugger", "Overtraining"): {
        "loss": from_step(100, 4.0),
        "validation_loss": from_step(100, 4.0),
    },
    ("sagemaker_debugger", "NLPSequenceRatio"): {"tokens": from_step(100, 16 * 10)},
    ("sagemaker_debugger", "StepOutlier"): {
        "step_seconds": lambda values: [
            9.0 if at >= 289 else each for at, each in enumerate(values)
        ]
    },
    ("composer", "NaNMonitor"): {"loss": only_at(100, NAN)},
    ("composer", "EarlyStopper"): {"validation_loss": from_step(100, 6.0)},
    ("llm_foundry", "KillLossSpike.spike"): {"loss": from_step(150, 20.0)},
    ("llm_foundry", "KillLossSpike.high_loss"): {"loss": from_step(150, 11.0)},
    ("lightning", "detect_anomaly"): {"gradient_norm": only_at(100, NAN)},
    ("lightning", "EarlyStopping.check_finite"): {"validation_loss": only_at(100, NAN)},
    ("lightning", "EarlyStopping.patience"): {"validation_loss": from_step(100, 6.0)},
    ("lightning", "SpikeDetection.finite_only"): {"loss": only_at(100, float("inf"))},
    ("lightning", "SpikeDetection.rtol"): {"loss": only_at(100, 30.0)},
    ("trainpulse", "NaNDetector.loss"): {"loss": only_at(100, NAN)},
    ("trainpulse", "NaNDetector.validation_loss"): {"validation_loss": only_at(100, NAN)},
    ("trainpulse", "NaNDetector.gradient_norm"): {"gradient_norm": only_at(100, NAN)},
    ("trainpulse", "GradientDetector.explosion"): {"gradient_norm": only_at(100, 101.0)},
    ("trainpulse", "GradientDetector.vanish"): {"gradient_norm": only_at(100, 1e-8)},
    ("trainpulse", "LRDetector"): {"learning_rate": from_step(100, 0.1)},
    ("trainpulse", "LossSpikeDetector"): {"loss": only_at(100, 60.0)},
    ("trainpulse", "PlateauDetector"): {"loss": from_step(100, 5.0)},
    ("trainpulse", "StepTimeDetector"): {"step_seconds": only_at(100, 1.0)},
}
"""A run in which each rule must fire, and not before what is wrong with it."""


def first(rule, steps, factor=1.0):
    return rule.first_firings(rule_signals(steps, PARAMETERS), (factor,))[0]


def test_every_rule_that_applies_has_a_run_that_trips_it():
    assert set(TRIPPED) == {(rule.peer, rule.name) for rule in APPLICABLE}


@pytest.mark.parametrize("rule", APPLICABLE, ids=lambda rule: f"{rule.peer}-{rule.name}")
def test_a_rule_fires_on_what_should_trip_it_and_on_nothing_else(rule):
    steps = healthy(**TRIPPED[rule.peer, rule.name])
    fired = first(rule, steps)
    assert fired is not None
    assert fired >= 100
    # watched step by step it alarms at the same step
    assert first(rule, steps.head(fired)) is None
    assert first(rule, steps.head(fired + 1)) == fired
    assert first(rule, healthy(120)) is None
    assert rule.first_firings(rule_signals(healthy().clear(), None)) == (None,)


def test_every_issue_of_a_rule_that_applies_is_mapped_and_no_other():
    for peer in rule_peers():
        assert issues_of(peer) == {rule.issue for rule in rules_of(peer)}


ROW = {
    "peer": "umlaut",
    "rule": "rule",
    "issue": "issue",
    "scope": "exact",
    "signal": "loss",
    "statistic": "value",
    "relation": "above",
    "threshold": "1",
    "looks": "1",
    "every": "1",
    "source": "where it is documented",
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"signal": "accuracy"}, "'accuracy' is none of loss"),
        ({"peer": "nobody"}, "is no peer"),
        ({"source": ""}, "source"),
        ({"scope": "mapped"}, "of its signal"),
    ],
)
def test_a_row_that_says_too_little_or_what_there_is_not_is_refused(change, problem):
    assert rule_of(ROW).applies
    with pytest.raises(ValueError, match=problem):
        rule_of(ROW | change)


def alarms_of(*rows):
    return pl.DataFrame(rows, schema=ALARM_SCHEMA, orient="row")


def said(alarms, peer):
    table = watched(alarms, pl.Series("run_id", ["a"]), (1.0,))
    (row,) = table.filter(peer=peer).to_dicts()
    return row


def test_the_first_alarm_detects_and_the_first_that_points_to_a_category_names_it():
    row = said(
        alarms_of(
            ("a", "trainpulse", "LossSpikeDetector", 1.0, 20),
            ("a", "trainpulse", "GradientDetector.explosion", 1.0, 30),
        ),
        "trainpulse",
    )
    assert (row["detected"], row["step"], row["prediction"]) == (True, 20, "optimization")


def verdicts(peer, issues):
    row = dict.fromkeys(VERDICT_SCHEMA) | {"run_id": "a", "format": "csv", "peer": peer}
    empty = {"severities": [], "confidences": [], "issues": issues}
    return pl.DataFrame([row | empty], schema=VERDICT_SCHEMA)


def test_what_the_mapping_does_not_know_is_one_clear_line():
    with pytest.raises(BadInputError) as unknown:
        refuse_unmapped(verdicts("runmedic", ["overfitting", "bad_weather"]), "x.parquet")
    assert str(unknown.value) == (
        "x.parquet: issues: runmedic says 'bad_weather', which has no mapping. "
        "Add it to src/failbench/neighbours/peers/data/mapping.csv, with a reason."
    )
    with pytest.raises(BadInputError, match="'oracle' is no peer"):
        refuse_unmapped(verdicts("oracle", []), "x.parquet")
