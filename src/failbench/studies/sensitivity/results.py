"""Sensitivity: what two choices of the main study are worth, each made the other way.

faults apart
    Folds that keep scenarios of one fault together, whatever its strength. In the main study a fit
    may have met the fault of a tested scenario in another scenario of the same category.
interactions
    A boosting machine with terms of pairs of features, which a reader would have to read as
    surfaces; the main study has none.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.boosting_machine import EbmSettings
from failbench.prediction.fold_plans import NESTED_CV, by_scenario
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import first_repeats, make_splits
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.statistics.study_difference import study_difference

FAULTS_APART = "faults_apart"
INTERACTIONS = "interactions"
VARIANTS = {
    FAULTS_APART: "no scenario of the same fault was trained on",
    INTERACTIONS: "pairs of features have terms of their own",
}
"""The choices that are made the other way, and what they mean for a tested run."""

FEATURE_SET = "19"
ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")


class SensitivitySettings(Record):
    """How often each choice is made the other way; the section ``sensitivity`` of params.yaml."""

    repeats: int = Field(ge=1)
    interactions: int = Field(ge=1)
    interaction_repeats: int = Field(ge=1)


def sensitivity(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    methods: Mapping[str, Record],
    main: pl.DataFrame,
    study: ReferenceStudy,
    settings: SensitivitySettings,
    intervals: IntervalSettings,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict with each choice made the other way, and set that against the main study.

    Parameters
    ----------
    features, splits
        As the main study takes them.
    scenarios
        From which the fault of each scenario is known.
    methods
        Settings of the methods to fit, by name; ``ebm`` is fitted with interactions, all others
        with faults apart.
    main
        Predictions of these methods in the main study.
    study, settings, intervals
        Which runs, which variants, and how intervals are made.
    workers
        Processes; results do not depend on it.

    Returns
    -------
    polars.DataFrame
        Two rows a (``variant``, ``method``): ``accuracy`` in the variant and the ``difference``
        to the main study over its first so many repeats, each with interval and ``n`` scenarios.

    Raises
    ------
    BadInputError
        If the main study has fewer repeats than a variant wants.
    """
    failures, successes = study.failures(features), study.successes(features)
    faults = pl.DataFrame(
        {"scenario": [one.id for one in scenarios], "fault": [one.fault.name for one in scenarios]}
    )
    apart = make_splits(
        failures.select("scenario", "category").unique().join(faults, on="scenario"),
        splits["fold"].n_unique(),
        settings.repeats,
        study.seed,
        group="fault",
    )
    parts = []
    for method, declared in methods.items():
        variant, folds, own = FAULTS_APART, apart, declared
        if isinstance(declared, EbmSettings):
            variant = INTERACTIONS
            folds = first_repeats(splits, settings.interaction_repeats, "sensitivity")
            own = declared.model_copy(update={"interactions": settings.interactions})
        repeats = folds["repeat"].n_unique()
        known = _first_repeats(main, method, repeats)
        columns = {FEATURE_SET: FEATURE_SETS[FEATURE_SET]}
        plans = by_scenario(variant, folds)
        found = nested_cv(
            failures, successes, folds, method, own, columns, study.seed, workers, plans
        )
        parts.append(_compared(variant, method, found, known, intervals))
    return pl.concat(parts)


def _first_repeats(main: pl.DataFrame, method: str, repeats: int) -> pl.DataFrame:
    mine = main.filter(
        pl.col("study") == NESTED_CV,
        pl.col("feature_set") == FEATURE_SET,
        pl.col("method") == method,
    )
    if mine["repeat"].n_unique() < repeats:
        raise BadInputError(
            "predictions",
            "repeat",
            f"the main study has {mine['repeat'].n_unique()} repeats of {method}, and sensitivity "
            f"wants {repeats}.",
            "Lower the repeats in the section sensitivity of params.yaml.",
        )
    return mine.filter(pl.col("repeat") < repeats)


def _compared(
    variant: str,
    method: str,
    found: pl.DataFrame,
    known: pl.DataFrame,
    intervals: IntervalSettings,
) -> pl.DataFrame:
    accuracy = scenario_intervals(scenario_answers(found), ACCURACY, intervals)["accuracy"]
    difference = study_difference(
        pl.concat([found, known]),
        variant,
        NESTED_CV,
        intervals,
        "how much more probable a right diagnosis of a new scenario is than in the main study",
    )
    estimand = f"{accuracy.estimand}; {VARIANTS[variant]}"
    named = {
        "accuracy": accuracy.model_copy(update={"estimand": estimand}),
        "difference": difference,
    }
    rows = [
        {
            "variant": variant,
            "method": method,
            "metric": metric,
            "interval": one.method,
            **one.model_dump(exclude={"method"}),
            "repeats": found["repeat"].n_unique(),
        }
        for metric, one in named.items()
    ]
    return pl.DataFrame(rows)


def sensitivity_metrics(
    table: pl.DataFrame,
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """The table as ``{variant: {method: {metric: {value, ci_low, ci_high, n}}}}``."""
    nested: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in table.iter_rows(named=True):
        metrics = nested.setdefault(row["variant"], {}).setdefault(row["method"], {})
        metrics[row["metric"]] = {key: row[key] for key in ("value", "ci_low", "ci_high", "n")}
    return nested
