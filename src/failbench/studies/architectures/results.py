"""Architectures: what was said on each of them as rates, and how alike they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.fold_plans import LEFT_OUT, NESTED_CV
from failbench.prediction.main_study import same_repeats
from failbench.prediction.workers import parallel_map
from failbench.reporting.labels import made_in_view
from failbench.statistics.bootstrap import Interval
from failbench.statistics.corrected_t import ResampledMean
from failbench.statistics.estimates import ESTIMATE, nest
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, Metric
from failbench.statistics.scores import scenario_answers
from failbench.studies.architectures.measure import RECORDED, RULES, ArchitecturesDesign
from failbench.studies.architectures.stability import PairedDifference, Stability, stability

ALL = "all"
"""In the place of an architecture: an estimate about all of them."""

REPORTED_RATES = ("accuracy", "macro_f1", "abstention_rate")
RATES = tuple(metric for metric in OVERALL if metric.name in REPORTED_RATES)
OVER_LOGS = "accuracy_over_logs"
AGAINST_OTHERS = "against_others"
SPREAD = "spread"

FAMILY = ("study", "method", "thresholds", "noise")
"""Whose rates on each architecture are compared with one another."""

VERDICT = ("p_equivalence", "smallest_margin", "detectable")
"""What a difference has besides an interval."""

Row = dict[str, object]


class ArchitecturesSettings(ArchitecturesDesign):
    """What is done to runs and thresholds, and when architectures count as alike."""

    equivalence_margin: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)


def architecture_rates(
    rules: pl.DataFrame,
    predictions: pl.DataFrame,
    intervals: ScenarioIntervalSettings,
    settings: ArchitecturesSettings,
    workers: int = 1,
) -> pl.DataFrame:
    """Every rate with its interval, and how alike the architectures are."""
    left_out = predictions.filter(pl.col("study") == LEFT_OUT, pl.col("feature_set") == "19")
    if left_out.is_empty():
        raise BadInputError(
            "predictions",
            "study",
            f"there are none of {LEFT_OUT} on the paper's features.",
            "Run `dvc repro` for the stage that leaves architectures out.",
        )
    columns = [*FAMILY, "architecture", "category", "scenario", "repeat", "log", "run_id"]
    columns += ["seed", "prediction"]
    learned = left_out.with_columns(
        thresholds=pl.lit("left_out"), noise=pl.lit(RECORDED), log=pl.lit(0, pl.Int32)
    )
    everything = pl.concat([rules.select(columns), learned.select(columns)]).sort(columns)
    tasks = [
        (dict(zip(FAMILY, key, strict=True)), part, intervals, settings)
        for key, part in everything.group_by(FAMILY, maintain_order=True)
    ]
    rows = [row for family in parallel_map(_family_rows, tasks, workers) for row in family]
    return pl.DataFrame(rows, infer_schema_length=None)


def _family_rows(
    family: Mapping[str, object],
    answers: pl.DataFrame,
    intervals: ScenarioIntervalSettings,
    settings: ArchitecturesSettings,
) -> list[Row]:
    """The rows of a family: rates per architecture, and how alike these are."""
    metrics = RATES if family["study"] == RULES else RATES[:1]
    rows = []
    for part in answers.sort("architecture").partition_by("architecture"):
        key = {**family, "architecture": part["architecture"][0]}
        runs = part["run_id"].n_unique()
        rows += _rates(key, part, metrics, intervals, runs)
        if part["log"].n_unique() > 1:
            rows.append(_over_logs(key, part, intervals.confidence, runs))
    alike = stability(
        answers, "architecture", settings.equivalence_margin, intervals.confidence, settings.power
    )
    return [*rows, *_stability_rows(family, alike, answers["run_id"].n_unique())]


def _rates(
    key: Mapping[str, object],
    answers: pl.DataFrame,
    metrics: tuple[Metric, ...],
    settings: ScenarioIntervalSettings,
    runs: int,
) -> list[Row]:
    intervals = scenario_intervals(scenario_answers(answers), metrics, settings)
    return [
        rate_row(
            {**key, "metric": metric},
            _bounds(interval),
            interval.n,
            "scenario",
            runs,
            interval.method,
        )
        for metric, interval in intervals.items()
    ]


def _over_logs(
    key: Mapping[str, object], answers: pl.DataFrame, confidence: float, runs: int
) -> Row:
    """Accuracy with an interval over the noisy logs alone, the scenarios being given."""
    right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64).mean()
    logs = (
        answers.group_by("log", "scenario")
        .agg(right=right)
        .group_by("log")
        .agg(pl.col("right").mean())
        .sort("log")["right"]
        .to_numpy()
    )
    error = float(logs.std(ddof=1)) / float(np.sqrt(len(logs)))
    mean = ResampledMean(float(logs.mean()), error, len(logs) - 1)
    bounds = (mean.mean, *mean.interval(confidence))
    return rate_row({**key, "metric": OVER_LOGS}, bounds, len(logs), "noisy log", runs, "t")


def _stability_rows(family: Mapping[str, object], alike: Stability, runs: int) -> list[Row]:
    rows = [
        rate_row(
            {**family, "architecture": name, "metric": AGAINST_OTHERS},
            _bounds(difference),
            difference.n,
            "scenario",
            runs,
            "paired t",
        )
        | {"p": difference.p}
        | {name: getattr(difference, name) for name in VERDICT}
        for name, difference in alike.against_others.items()
    ]
    widest = rate_row(
        {**family, "architecture": ALL, "metric": SPREAD},
        (alike.spread, 0.0, alike.smallest_margin),
        alike.n,
        "scenario",
        runs,
        "upper bound by equivalence",
    )
    widest |= {
        "p_equivalence": alike.p,
        "smallest_margin": alike.smallest_margin,
        "detectable": alike.detectable,
    }
    untested = dict.fromkeys(("p", "p_equivalence")) if made_in_view(str(family["method"])) else {}
    return [row | untested for row in (*rows, widest)]


def _bounds(estimate: Interval | PairedDifference) -> tuple[float, float, float]:
    return estimate.value, estimate.ci_low, estimate.ci_high


def rate_row(
    key: Mapping[str, object],
    bounds: tuple[float, float, float],
    n: int,
    unit: str,
    runs: int,
    interval: str,
) -> Row:
    """A row of the table of rates, under its key; what compares architectures is left empty."""
    value, low, high = bounds
    return {
        **key,
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "n": n,
        "unit": unit,
        "runs": runs,
        "interval": interval,
        **dict.fromkeys(("p", *VERDICT)),
    }


def with_main_study(
    rates: pl.DataFrame, predictions: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates, and below them the accuracy of the methods in the main study, which knows one."""
    on_features = predictions.filter(pl.col("feature_set") == PRIMARY_SET)
    main = on_features.filter(pl.col("study") == NESTED_CV)
    left_out = on_features.filter(pl.col("study") == LEFT_OUT)
    asked = main.join(left_out, on="method", how="semi")
    keys = ("study", "method", "architecture")
    both = pl.concat([asked, same_repeats(main, left_out)]).sort(keys)
    rows = [
        row
        for (study, method, architecture), part in both.group_by(keys, maintain_order=True)
        for row in _rates(
            {
                **dict(zip(FAMILY, (study, method, str(study), RECORDED), strict=True)),
                "architecture": architecture,
            },
            part,
            RATES[:1],
            intervals,
            part["run_id"].n_unique(),
        )
    ]
    return pl.concat([rates, pl.DataFrame(rows, schema=rates.schema)])


def architecture_metrics(table: pl.DataFrame) -> dict[str, Any]:
    """The table as nested scalars.

    ``{rules: {thresholds: {logs: {architecture: {metric: leaf}}}}}`` and, for
    ``leave_one_architecture_out`` and the main study, ``{study: {method: {architecture: {metric:
    leaf}}}}``.
    """
    logs = pl.col("noise").map_elements(logs_of, return_dtype=pl.String)
    rules = table.filter(pl.col("study") == RULES).with_columns(logs=logs)
    leaves = (*ESTIMATE, *VERDICT)
    keys = ("architecture", "metric")
    return {
        RULES: nest(rules, "thresholds", "logs", *keys, leaves=leaves),
        **nest(table.filter(pl.col("study") != RULES), "study", "method", *keys, leaves=leaves),
    }


def logs_of(noise: float) -> str:
    """What logs with this noise are called.

    >>> logs_of(0.0), logs_of(0.05)
    ('recorded', 'noise_5_percent')
    """
    return "recorded" if noise == RECORDED else f"noise_{100 * noise:g}_percent"
