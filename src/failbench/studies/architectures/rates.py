"""Architecture rates: what was answered on each architecture as rates, and how alike they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from failbench.errors import BadInputError
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import LEFT_OUT
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.workers import parallel_map
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.corrected_t import ResampledMean
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, Metric
from failbench.statistics.scores import scenario_answers
from failbench.studies.architectures.measure import (
    RECORDED,
    ArchitecturesSettings,
    rules_on_architectures,
)
from failbench.studies.architectures.stability import Stability, stability
from failbench.telemetry import Telemetry

RULES = "rules"
"""The study of the improved rules, weighed on the reference; the other one is ``LEFT_OUT``."""

ALL = "all"
"""In the place of an architecture: a figure about all of them."""

REPORTED_RATES = ("accuracy", "macro_f1", "abstention_rate")
RATES = tuple(metric for metric in OVERALL if metric.name in REPORTED_RATES)
OVER_LOGS = "accuracy_over_logs"
AGAINST_OTHERS = "against_others"
SPREAD = "spread"
SIZE = "parameter_count"

FAMILY = ("study", "method", "thresholds", "noise")
"""Whose rates on each architecture are compared with one another."""

Row = dict[str, object]


class ArchitectureInputs(Record):
    """Settings of everything that the study is made of, a section of params.yaml each."""

    reference: ReferenceStudy
    rules: ImprovedRulesSettings
    intervals: IntervalSettings
    architectures: ArchitecturesSettings


def architectures_study(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    predictions: pl.DataFrame,
    inputs: ArchitectureInputs,
    workers: int = 1,
) -> pl.DataFrame:
    """Rates of the improved rules, and of every method that never saw an architecture, on each.

    Parameters
    ----------
    features, splits, telemetry, scenarios
        As :func:`failbench.studies.architectures.measure.rules_on_architectures` takes them.
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA``, of which those of the study
        ``leave_one_architecture_out`` are taken.
    inputs
        All settings.
    workers
        Processes; results do not depend on it.

    Returns
    -------
    polars.DataFrame
        As :func:`architecture_rates` returns it.

    Raises
    ------
    BadInputError
        If an architecture, its successful runs or the predictions are missing.
    """
    answers = rules_on_architectures(
        features,
        splits,
        telemetry,
        scenarios,
        inputs.reference,
        inputs.rules,
        inputs.architectures,
        workers,
    )
    rates = architecture_rates(
        answers, predictions, inputs.intervals, inputs.architectures, workers
    )
    sizes = pl.DataFrame(_sizes(features, answers), schema=rates.schema)
    return pl.concat([rates, sizes])


def architecture_rates(
    answers: pl.DataFrame,
    predictions: pl.DataFrame,
    intervals: IntervalSettings,
    settings: ArchitecturesSettings,
    workers: int = 1,
) -> pl.DataFrame:
    """Every rate with its interval, and how alike the architectures are.

    Parameters
    ----------
    answers
        As ``rules_on_architectures`` returns them.
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA``; other studies than ``leave_one_architecture_out``
        and other feature sets than the paper's are left out.
    intervals
        Resamples, confidence, and the seed that all figures share.
    settings
        Margin and power.
    workers
        Processes; results do not depend on it.

    Returns
    -------
    polars.DataFrame
        One row a (``FAMILY``, ``architecture``, ``metric``) with ``value``, interval, ``n`` and its
        unit, ``runs``, and for differences ``p``, ``p_equivalence``, ``smallest_margin`` and
        ``detectable``. The interval of ``spread`` is an upper bound by the tests of equivalence;
        below, zero is all that is said.

    Raises
    ------
    BadInputError
        If there is no prediction of ``leave_one_architecture_out``.
    """
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
    rules = answers.with_columns(study=pl.lit(RULES), method=pl.lit("improved_rules"))
    learned = left_out.with_columns(
        thresholds=pl.lit("left_out"), noise=pl.lit(RECORDED), log=pl.lit(0, pl.Int32)
    )
    everything = pl.concat([rules.select(columns), learned.select(columns)]).sort(columns)
    tasks = [
        (dict(zip(FAMILY, key, strict=True)), part, intervals, settings)
        for key, part in everything.group_by(FAMILY, maintain_order=True)
    ]
    rows = [row for found in parallel_map(_family_rows, tasks, workers) for row in found]
    return pl.DataFrame(rows, infer_schema_length=None)


def _family_rows(
    family: Mapping[str, object],
    answers: pl.DataFrame,
    intervals: IntervalSettings,
    settings: ArchitecturesSettings,
) -> list[Row]:
    """The rows of one family: a set of rates an architecture, and how alike they are."""
    metrics = RATES if family["study"] == RULES else RATES[:1]
    rows = []
    for part in answers.sort("architecture").partition_by("architecture"):
        key = {**family, "architecture": part["architecture"][0]}
        runs = part["run_id"].n_unique()
        rows += _rates(key, part, metrics, intervals, runs)
        if part["log"].n_unique() > 1:
            rows.append(_over_logs(key, part, intervals.confidence, runs))
    found = stability(
        answers, "architecture", settings.equivalence_margin, intervals.confidence, settings.power
    )
    return [*rows, *_stability_rows(family, found, answers["run_id"].n_unique())]


def _rates(
    key: Mapping[str, object],
    answers: pl.DataFrame,
    metrics: tuple[Metric, ...],
    settings: IntervalSettings,
    runs: int,
) -> list[Row]:
    found = scenario_intervals(scenario_answers(answers), metrics, settings)
    return [
        _row(
            {**key, "metric": name},
            (one.value, one.ci_low, one.ci_high),
            one.n,
            "scenario",
            runs,
            one.method,
        )
        for name, one in found.items()
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
    return _row({**key, "metric": OVER_LOGS}, bounds, len(logs), "noisy log", runs, "t")


def _stability_rows(family: Mapping[str, object], found: Stability, runs: int) -> list[Row]:
    rows = [
        _row(
            {**family, "architecture": name, "metric": AGAINST_OTHERS},
            (one.value, one.ci_low, one.ci_high),
            one.n,
            "scenario",
            runs,
            "paired t",
        )
        | {
            "p": one.p,
            "p_equivalence": one.p_equivalence,
            "smallest_margin": one.smallest_margin,
            "detectable": one.detectable,
        }
        for name, one in found.against_others.items()
    ]
    widest = _row(
        {**family, "architecture": ALL, "metric": SPREAD},
        (found.spread, 0.0, found.smallest_margin),
        found.n,
        "scenario",
        runs,
        "upper bound by equivalence",
    )
    return [
        *rows,
        widest
        | {
            "p_equivalence": found.p,
            "smallest_margin": found.smallest_margin,
            "detectable": found.detectable,
        },
    ]


def _sizes(features: pl.DataFrame, answers: pl.DataFrame) -> list[Row]:
    """Trainable parameters of each architecture: median, smallest and largest of its runs."""
    recorded = features.join(answers.select("run_id").unique(), on="run_id", how="semi")
    counts = (
        recorded.group_by("architecture")
        .agg(
            pl.col("parameter_count").median().alias("value"),
            pl.col("parameter_count").min().alias("low"),
            pl.col("parameter_count").max().alias("high"),
            pl.col("parameter_count").count().alias("n"),
        )
        .sort("architecture")
    )
    family = dict(zip(FAMILY, (RULES, "improved_rules", "reference", RECORDED), strict=True))
    return [
        _row(
            {**family, "architecture": name, "metric": SIZE},
            (value, low, high),
            n,
            "run",
            n,
            "range",
        )
        for name, value, low, high, n in counts.iter_rows()
    ]


def _row(
    key: Mapping[str, object],
    bounds: tuple[float, float, float],
    n: int,
    unit: str,
    runs: int,
    interval: str,
) -> Row:
    value, low, high = bounds
    nothing = dict.fromkeys(("p", "p_equivalence", "smallest_margin", "detectable"))
    return {
        **key,
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "n": n,
        "unit": unit,
        "runs": runs,
        "interval": interval,
        **nothing,
    }
