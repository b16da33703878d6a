"""Crosswalk: every accuracy that is printed of two methods, with what it was measured under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.predictions import PREDICTION_SCHEMA
from failbench.statistics.estimates import ESTIMATE

RULES, FOREST = "improved_rules", "random_forest"
METHODS: Final = (RULES, FOREST)
"""The methods that most studies ask."""

SEARCHED, FIRST_VALUES = "yes", "no"
BY_SCENARIO: Final = "by scenario"


@dataclass(frozen=True)
class Condition:
    """One place where accuracies are printed, and under what they were measured.

    Attributes
    ----------
    study, features
        What study and features are called.
    points
        Which file of points has the accuracy, and ``chosen``, which rows of it; the value stands in
        the column ``value``.
    predictions
        Which folder of predictions it comes from, and ``answers``, which rows of it.
    folds
        What stays together in a fold.
    search
        Whether settings of the forest are searched; the rules have nothing to search.
    reason
        Why it differs from the main study.
    methods
        Those that are printed.
    value
        The column of the points.
    """

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


KEY_TYPES: Final = {"noise": pl.Float64(), "steps": pl.Int64(), "steps_ahead": pl.Int32()}
"""Types of key columns that hold no names."""


def points_schema(points: str) -> pl.Schema:
    """What is read of a file of points: the keys that choose rows, and the accuracy."""
    conditions = [condition for condition in CONDITIONS if condition.points == points]
    keys = {name for condition in conditions for name in condition.chosen.meta.root_names()}
    values = {condition.value for condition in conditions}
    intervals = {"ci_low", "ci_high"} if ESTIMATE[0] in values else set()
    return pl.Schema(
        {
            **_key_types({"method", *keys}),
            **dict.fromkeys(sorted(values | intervals), pl.Float64()),
            "n": pl.Int64(),
        }
    )


def predictions_schema(folder: str) -> pl.Schema:
    """What is read of a folder of predictions: their schema, and the keys that choose rows."""
    conditions = [condition for condition in CONDITIONS if condition.predictions == folder]
    keys = {name for condition in conditions for name in condition.answers.meta.root_names()}
    return pl.Schema([*PREDICTION_SCHEMA.items(), *_key_types(keys - {*PREDICTION_SCHEMA}).items()])


def _key_types(names: set[str]) -> dict[str, pl.DataType]:
    return {name: KEY_TYPES.get(name, pl.String()) for name in sorted(names)}


@dataclass(frozen=True)
class PrintedAccuracy:
    """An accuracy as it is printed, and what its predictions have.

    Attributes
    ----------
    method, condition
        Whose it is, and where.
    value, ci_low, ci_high
        As published; the points of importance have no interval.
    n, folds, repeats, seeds, runs
        Scenarios, test folds per repeat, repeats, seeds of the runs, and runs.
    """

    method: str
    condition: Condition
    value: float
    ci_low: float | None
    ci_high: float | None
    n: int
    folds: int
    repeats: int
    seeds: int
    runs: int


def printed_accuracies(
    points: Mapping[str, pl.DataFrame], predictions: Mapping[tuple[str, str], pl.DataFrame]
) -> tuple[PrintedAccuracy, ...]:
    """Every accuracy of the two methods, by method and condition.

    Parameters
    ----------
    points
        Published points, by study.
    predictions
        By folder and method.

    Raises
    ------
    BadInputError
        If an accuracy is not among the points, or is there twice.
    """
    return tuple(
        _printed(method, condition, points[condition.points], predictions)
        for method in METHODS
        for condition in CONDITIONS
        if method in condition.methods
    )


def _printed(
    method: str,
    condition: Condition,
    points: pl.DataFrame,
    predictions: Mapping[tuple[str, str], pl.DataFrame],
) -> PrintedAccuracy:
    matches = points.filter(condition.chosen, pl.col("method") == method)
    answers = predictions[condition.predictions, method].filter(condition.answers)
    if matches.height != 1 or answers.is_empty():
        raise BadInputError(
            f"data/plots/{condition.points}.csv",
            "metric",
            f"has {matches.height} accuracies of {method} for {condition.study}, and there are "
            f"{answers.height} predictions.",
            f"Run `dvc repro {condition.points}`.",
        )
    row = matches.row(0, named=True)
    has_interval = condition.value == ESTIMATE[0]
    return PrintedAccuracy(
        method,
        condition,
        row[condition.value],
        row["ci_low"] if has_interval else None,
        row["ci_high"] if has_interval else None,
        int(row["n"]),
        # folds are numbered anew in each repeat
        answers.filter(pl.col("repeat") == pl.col("repeat").min())["fold"].n_unique(),
        answers["repeat"].n_unique(),
        answers["seed"].n_unique(),
        answers["run_id"].n_unique(),
    )
