"""Sensitivity: what choices of the main study are worth, each made the other way."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import NESTED_CV
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.statistics.study_difference import study_difference
from failbench.studies.sensitivity.settings import FEATURE_SET, VARIANTS, Variant

ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")


def sensitivity_estimates(
    predictions: pl.DataFrame, main: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Set what was predicted with each choice made the other way against the main study."""
    tables = []
    for variant in VARIANTS:
        of_variant = predictions.filter(pl.col("study") == variant.name)
        for method in of_variant["method"].unique().sort():
            answers = of_variant.filter(pl.col("method") == method)
            known = _first_repeats(main, method, answers["repeat"].n_unique(), variant)
            tables.append(_compared(variant, method, answers, known, intervals))
    return pl.concat(tables)


def _first_repeats(main: pl.DataFrame, method: str, repeats: int, variant: Variant) -> pl.DataFrame:
    known = main.filter(
        pl.col("study") == NESTED_CV,
        pl.col("feature_set") == FEATURE_SET,
        pl.col("method") == method,
    )
    if known["repeat"].n_unique() < repeats:
        raise BadInputError(
            "predictions",
            "repeat",
            f"the main study has {known['repeat'].n_unique()} repeats of {method}, and sensitivity "
            f"wants {repeats}.",
            f"Lower sensitivity.{variant.repeats_key} in params.yaml.",
        )
    return known.filter(pl.col("repeat") < repeats)


def _compared(
    variant: Variant,
    method: str,
    answers: pl.DataFrame,
    known: pl.DataFrame,
    intervals: ScenarioIntervalSettings,
) -> pl.DataFrame:
    accuracy = scenario_intervals(scenario_answers(answers), ACCURACY, intervals)["accuracy"]
    estimates = {
        "accuracy": accuracy.model_copy(
            update={"estimand": f"{accuracy.estimand}; {variant.meaning}"}
        ),
        "difference": study_difference(
            pl.concat([answers, known]),
            variant.name,
            NESTED_CV,
            intervals,
            "how much more probable a right diagnosis of a run of a new scenario is than in the "
            "main study",
        ),
    }
    return estimate_rows(estimates, variant=variant.name, method=method).with_columns(
        repeats=pl.lit(answers["repeat"].n_unique(), pl.Int64),
        runs=pl.lit(answers["run_id"].n_unique(), pl.Int64),
    )
