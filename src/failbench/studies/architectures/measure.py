"""Architectures: the improved rules on all of them, with and without recalibration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field
from sklearn.base import clone

from failbench.errors import BadInputError
from failbench.features.catalogue import PRIMARY_SET
from failbench.features.feature_table import feature_table, to_frame
from failbench.methods.healthy_band import Band, healthy_band, percentile_band
from failbench.methods.improved_rules import ImprovedRules, ImprovedRulesSettings
from failbench.methods.improved_tree import band_features
from failbench.methods.rules import EvaluatedConditions
from failbench.prediction.fold_plans import NESTED_CV, FoldPlan, by_scenario
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.workers import parallel_map
from failbench.predictions import DECIMALS, PREDICTION_SCHEMA
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.studies.architectures.noise import with_noise
from failbench.telemetry import Telemetry
from failbench.vocabulary import CATEGORIES

RECORDED = 0.0
"""The noise of logs as they were recorded."""

THRESHOLDS: Mapping[str, str] = {
    "reference": "mean and deviations of the reference architecture's successful runs",
    "own_deviations": "mean and deviations of the architecture's own successful runs",
    "own_percentile": "a percentile of the architecture's own successful runs",
    "own_percentile_and_limit": "the same, the limit of an explosion of the gradient norm included",
}
"""Where the thresholds of the rules come from; their weights are always the reference's.

The second parts what it is worth to know an architecture's own runs from what the percentile is
worth. The paper's section 8.9.5 can be read as the third, as bands are what its equation 2 makes
of successful runs, or as the fourth, as the limit is a threshold of the gradient norm too.
"""

RULES = "rules"
"""The study of the improved rules, weighed on the reference architecture."""

KEYS = ("thresholds", "noise", "log")

RULE_PREDICTION_SCHEMA = pl.Schema(
    [
        *PREDICTION_SCHEMA.items(),
        ("thresholds", pl.String()),
        ("noise", pl.Float64()),
        ("log", pl.Int32()),
    ]
)
"""Columns of the file of predictions; ``KEYS`` and the first six are its key."""


class ArchitecturesDesign(Record):
    """The section ``architectures`` of params.yaml."""

    noise: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field(min_length=1)
    noisy_logs: int = Field(ge=2)
    percentile: float = Field(gt=0.5, lt=1)
    seed: int = Field(ge=0)


@dataclass(frozen=True)
class Calibration:
    """Thresholds for the runs of an architecture."""

    thresholds: str
    architecture: str
    band: Band
    gradient_norm: float


def rules_on_architectures(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    study: ReferenceStudy,
    rules: ImprovedRulesSettings,
    settings: ArchitecturesDesign,
    workers: int = 1,
) -> pl.DataFrame:
    """Diagnose the failing runs of every architecture by rules that were weighed on one of them.

    The fits are those of the main study: weights come from the reference architecture, one run per
    scenario, in the folds that do not test the scenario. Noise reaches what is diagnosed alone;
    thresholds and weights stay those of the recorded logs.
    """
    taken = features.filter(pl.col("optimizer") == study.optimizer, pl.col("scale") == study.scale)
    failures = taken.filter(pl.col("kind") == "failure")
    architectures = failures["architecture"].n_unique()
    if architectures < 2:
        raise BadInputError(
            "features",
            "architecture",
            f"{architectures} was recorded with {study.optimizer} at scale {study.scale}; "
            "comparing takes two.",
            "Run `failbench record` for another architecture.",
        )
    noisy = noisy_logs(telemetry, tuple(scenarios), failures["run_id"], settings)
    recorded = failures.with_columns(noise=pl.lit(RECORDED), log=pl.lit(0, pl.Int32))
    tested = pl.concat([recorded, noisy])
    reference = healthy_band(to_frame(study.successes(features)), band_features())
    fits = _fits(
        LabelledRuns.from_table(study.failures(features)),
        splits,
        ImprovedRules(reference, **rules.model_dump()),
    )
    tasks = [
        (_for_calibration(tested, calibration), splits, calibration, fits)
        for calibration in calibrations(taken, reference, rules, settings)
    ]
    predictions = pl.concat(parallel_map(_predictions, tasks, workers))
    return predictions.sort(*KEYS, "repeat", "fold", "run_id")


def noisy_logs(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    run_ids: pl.Series,
    settings: ArchitecturesDesign,
) -> pl.DataFrame:
    """Features of runs whose measurements are noisy, with ``noise`` and ``log``.

    The factors of a log are drawn from one generator at every level, so that levels differ in
    nothing else.
    """
    chosen = telemetry.select(pl.col("run_id").is_in(run_ids.to_list()))
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.noisy_logs)
    return pl.concat(
        feature_table(
            with_noise(chosen, level, np.random.default_rng(seed)), scenarios
        ).with_columns(noise=pl.lit(level), log=pl.lit(number, pl.Int32))
        for level in settings.noise
        for number, seed in enumerate(seeds, start=1)
    )


def calibrations(
    runs: pl.DataFrame,
    reference: Band,
    rules: ImprovedRulesSettings,
    settings: ArchitecturesDesign,
) -> tuple[Calibration, ...]:
    """The thresholds under which each architecture is diagnosed."""
    failing = runs.filter(pl.col("kind") == "failure")["architecture"].unique().sort().to_list()
    limit = rules.gradient_norm
    result = []
    for name in failing:
        successful = (pl.col("kind") == "success") & (pl.col("architecture") == name)
        healthy = to_frame(runs.filter(successful))
        deviations = healthy_band(healthy, band_features())
        quantiles = percentile_band(healthy, band_features(), settings.percentile)
        usual = quantiles.upper("max_gradient_norm", rules.healthy_sds)
        result += [
            Calibration("reference", name, reference, limit),
            Calibration("own_deviations", name, deviations, limit),
            Calibration("own_percentile", name, quantiles, limit),
            Calibration("own_percentile_and_limit", name, quantiles, usual),
        ]
    return tuple(result)


def _fits(
    reference: LabelledRuns, splits: pl.DataFrame, rules: ImprovedRules
) -> tuple[tuple[FoldPlan, ImprovedRules], ...]:
    """The rules with the weights of each fold of the main study."""
    fits = []
    for plan in by_scenario(NESTED_CV, splits):
        _, trained = plan.rows(splits, reference.table)
        fitted = clone(rules).fit(
            reference.frame[trained], reference.labels[trained], groups=reference.groups[trained]
        )
        fits.append((plan, fitted))
    return tuple(fits)


def _for_calibration(tested: pl.DataFrame, calibration: Calibration) -> pl.DataFrame:
    """The runs that thresholds are for; noisy ones for the reference's alone."""
    wanted = pl.lit(calibration.thresholds == "reference") | (pl.col("noise") == RECORDED)
    return tested.filter(wanted, pl.col("architecture") == calibration.architecture)


def _predictions(
    runs: pl.DataFrame,
    splits: pl.DataFrame,
    calibration: Calibration,
    fits: tuple[tuple[FoldPlan, ImprovedRules], ...],
) -> pl.DataFrame:
    """Every repeat's predictions: what conditions say does not depend on the fold, weights do."""
    frame = to_frame(runs.drop("noise", "log"))
    evaluated = EvaluatedConditions(frame)
    scenarios = runs["scenario"].to_numpy().astype(str)
    recalibrated = [
        (plan, fitted.recalibrated(calibration.band, calibration.gradient_norm))
        for plan, fitted in fits
    ]
    # The way through the tree is that of the thresholds, which all folds share.
    checked = [diagnosis.conditions for diagnosis in recalibrated[0][1].diagnose(frame)]
    described = runs.with_columns(
        study=pl.lit(RULES),
        feature_set=pl.lit(PRIMARY_SET),
        method=pl.lit("improved_rules"),
        thresholds=pl.lit(calibration.thresholds),
        conditions=pl.Series(checked, dtype=pl.Int32),
        route=pl.lit(None, pl.String),
    )
    parts = []
    for plan, rules in recalibrated:
        verdicts = rules.judge(evaluated)
        probabilities = rules.probabilities(verdicts)
        part = described.with_columns(
            repeat=pl.lit(plan.repeat),
            fold=pl.lit(plan.fold),
            prediction=pl.Series(rules.answers(verdicts).astype(str)),
            confidence=pl.Series(verdicts.confidence).round(DECIMALS),
            reason=pl.Series(verdicts.reasons.tolist(), dtype=pl.String),
            **{
                f"p_{category}": pl.Series(probabilities[:, position]).round(DECIMALS)
                for position, category in enumerate(CATEGORIES)
            },
        )
        tested = np.isin(scenarios, _tested(splits, plan))
        parts.append(part.filter(pl.Series(tested)))
    return pl.concat(parts).select(RULE_PREDICTION_SCHEMA.names()).cast(RULE_PREDICTION_SCHEMA)


def _tested(splits: pl.DataFrame, plan: FoldPlan) -> list[str]:
    fold = splits.filter(pl.col("repeat") == plan.repeat, pl.col("fold") == plan.split)
    return fold["scenario"].to_list()
