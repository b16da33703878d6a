"""Conditions of the crosswalk: every place where accuracies of two methods are printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED

RULES, FOREST = "improved_rules", "random_forest"
METHODS: Final = (RULES, FOREST)
"""The methods that most studies ask."""

SEARCHED, FIRST_VALUES = "yes", "no"
BY_SCENARIO: Final = "by scenario"


@dataclass(frozen=True)
class Condition:
    """One place where accuracies are printed, and under what they were measured."""

    study: str
    features: str
    points: str
    chosen: pl.Expr
    predictions: str
    answers: pl.Expr
    folds: str
    search: str
    reason: str
    methods: tuple[str, ...] = METHODS
    value: str = "value"


def _is(**values: object) -> pl.Expr:
    return pl.all_horizontal([pl.col(name) == value for name, value in values.items()])


ACROSS, ABLATION, IMPORTANCE = "across_architectures", "ablation", "importance"

CONDITIONS: Final = (
    *(
        Condition(
            "Main study",
            features,
            "intervals",
            _is(feature_set=feature_set, metric="accuracy"),
            NESTED_CV,
            _is(feature_set=feature_set),
            BY_SCENARIO,
            SEARCHED,
            reason,
        )
        for feature_set, features, reason in (
            ("19", "19", "the reference of this table"),
            ("19+keywords", "19 + keywords", "keywords of the error text, which rules always read"),
        )
    ),
    *(
        Condition(
            label,
            "19",
            "generalization",
            _is(study=study, feature_set="19", metric="accuracy"),
            ACROSS,
            _is(study=study, feature_set="19"),
            folds,
            SEARCHED,
            reason,
        )
        for study, label, folds, reason in (
            (POOLED, "All architectures", BY_SCENARIO, "more runs to learn from, and to be asked"),
            (
                LEFT_OUT,
                "Architecture left out",
                "by scenario and architecture",
                "learns from other architectures alone",
            ),
            (
                KNOWN_SCENARIOS,
                "Known scenarios",
                "by architecture",
                "has seen the scenario on other architectures",
            ),
        )
    ),
    Condition(
        "Architectures, as recorded",
        "19",
        "architectures",
        _is(
            study="rules",
            thresholds="reference",
            noise=0.0,
            architecture="transformer",
            metric="accuracy",
        ),
        "architectures",
        _is(thresholds="reference", noise=0.0, architecture="transformer"),
        BY_SCENARIO,
        SEARCHED,
        "the runs of the main study, by fits of it; a noisy log is another",
        (RULES,),
    ),
    Condition(
        "Lead time, at the failure",
        "19 without steps",
        "lead_time",
        _is(steps=0, metric="accuracy"),
        "lead_time",
        _is(subset="failing", steps_ahead=0),
        BY_SCENARIO,
        FIRST_VALUES,
        "one seed, trained on and asked; does not see the number of steps",
    ),
    *(
        Condition(
            "Ablation, all signals",
            features,
            ABLATION,
            _is(feature_set=feature_set, subset="all", metric="accuracy"),
            ABLATION,
            _is(feature_set=feature_set, subset="all"),
            BY_SCENARIO,
            FIRST_VALUES,
            "the first repeats alone",
            methods,
        )
        for feature_set, features, methods in (
            ("19", "19", METHODS),
            ("19+keywords", "19 + keywords", (FOREST,)),
        )
    ),
    *(
        Condition(
            "Importance, intact runs",
            features,
            IMPORTANCE,
            _is(feature_set=feature_set, kind="group", name="memory"),
            IMPORTANCE,
            _is(feature_set=feature_set),
            BY_SCENARIO,
            SEARCHED,
            "the first repeats alone",
            (FOREST,),
            "accuracy",
        )
        for feature_set, features in (
            ("19", "19"),
            ("19+keywords+trend", "19 + keywords + trend"),
        )
    ),
    Condition(
        "Portability, at home",
        "19",
        "portability",
        _is(condition="home", metric="accuracy"),
        "portability",
        _is(condition="home"),
        BY_SCENARIO,
        FIRST_VALUES,
        "the scenarios that both optimizers have",
    ),
    Condition(
        "Sensitivity, one run per scenario",
        "19",
        "sensitivity",
        _is(variant="one_seed", metric="accuracy"),
        "sensitivity",
        _is(study="one_seed"),
        BY_SCENARIO,
        SEARCHED,
        "one seed, trained on and asked: the paper's form",
    ),
    Condition(
        "Sensitivity, folds by fault",
        "19",
        "sensitivity",
        _is(variant="faults_apart", metric="accuracy"),
        "sensitivity",
        _is(study="faults_apart"),
        "by fault",
        SEARCHED,
        "no scenario of the same fault to learn from",
        (FOREST,),
    ),
)
"""In the order of the table."""
