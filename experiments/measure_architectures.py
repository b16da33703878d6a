"""Stage measure_architectures: what the improved rules say on every architecture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.base import clone

from failbench.base import measuring as st
from failbench.features.feature_table import feature_table, read_features, to_frame
from failbench.methods.healthy import Band, healthy_band, percentile_band
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.improved_tree import band_features
from failbench.methods.rules import EvaluatedConditions
from failbench.prediction.nested_cv import LabelledRuns
from failbench.prediction.splits import FoldPlan, by_scenario
from recordings import read_recordings
from shared.architectures import KEYS, RECORDED, RULE_PREDICTION_SCHEMA, RULES, ArchitecturesDesign

TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
PREDICTIONS = Path("data/predictions/architectures/improved_rules.parquet")

MEASURED = ("loss", "gradient_norm", "validation_loss", "memory_bytes", "step_seconds")
"""Step columns that a run measures; the others are counted or set, and so known exactly."""

Fit = tuple[FoldPlan, ImprovedRules]


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
    telemetry: st.Telemetry,
    scenarios: Iterable[st.Scenario],
    study: st.ReferenceStudy,
    rules: st.ImprovedRulesSettings,
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
        recorded_with = f"{study.optimizer} at scale {study.scale}"
        problem = f"{architectures} was recorded with {recorded_with}; comparing takes two."
        remedy = "Run `failbench record` for another architecture."
        raise st.BadInputError("features", "architecture", problem, remedy)
    noisy = noisy_logs(telemetry, tuple(scenarios), failures["run_id"], settings)
    recorded = failures.with_columns(noise=pl.lit(RECORDED), log=pl.lit(0, pl.Int32))
    tested = pl.concat([recorded, noisy])
    reference = healthy_band(to_frame(study.successes(features)), band_features())
    labelled = LabelledRuns.from_table(study.failures(features))
    fits = list(weighed(labelled, splits, ImprovedRules(reference, **rules.model_dump())))
    tasks = [
        (tested.filter(architecture=each.architecture), splits, each, fits)
        for each in calibrations(taken, reference, rules, settings)
    ]
    predictions = pl.concat(st.parallel_map(diagnoses, tasks, workers))
    return predictions.sort(*KEYS, "repeat", "fold", "run_id")


def noisy_logs(
    telemetry: st.Telemetry,
    scenarios: tuple[st.Scenario, ...],
    run_ids: pl.Series,
    settings: ArchitecturesDesign,
) -> pl.DataFrame:
    """Features of runs whose measurements are noisy, with ``noise`` and ``log``.

    The factors of a log are drawn from one generator at every level, so that levels differ in
    nothing else.
    """
    chosen = telemetry.select(pl.col("run_id").is_in(run_ids.to_list()))
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.noisy_logs)
    parts = []
    for level, (number, seed) in product(settings.noise, enumerate(seeds, start=1)):
        noisy = with_noise(chosen, level, np.random.default_rng(seed))
        keys = {"noise": pl.lit(level), "log": pl.lit(number, pl.Int32)}
        parts.append(feature_table(noisy, scenarios).with_columns(**keys))
    return pl.concat(parts)


def with_noise(
    telemetry: st.Telemetry, level: float, generator: np.random.Generator
) -> st.Telemetry:
    """Multiply every measurement of every step by a factor of its own.

    The factors are log-normal with a median of one, the distribution of errors that are a share of
    a positive quantity (Limpert, Stahel and Abbt, 2001, "Log-normal distributions across the
    sciences", BioScience 51): what is small stays small, and no measurement changes its sign. What
    was not measured, or is not finite, stays so.
    """
    factors = generator.lognormal(0.0, level, (len(MEASURED), telemetry.steps.height))
    noisy = []
    for name, factor in zip(MEASURED, factors, strict=True):
        changed = pl.col(name).cast(pl.Float64) * pl.Series(factor)
        whole = st.STEP_SCHEMA[name].is_integer()
        noisy.append((changed.round() if whole else changed).cast(st.STEP_SCHEMA[name]).alias(name))
    return st.Telemetry(telemetry.runs, telemetry.steps.with_columns(noisy))


def calibrations(
    runs: pl.DataFrame,
    reference: Band,
    rules: st.ImprovedRulesSettings,
    settings: ArchitecturesDesign,
) -> Iterator[Calibration]:
    """Where the thresholds of each architecture come from; weights are always the reference's.

    The second parts what it is worth to know an architecture's own runs from what the percentile
    is worth. The paper's section 8.9.5 can be read as the third, as bands are what its equation 2
    makes of successful runs, or as the fourth, as the limit of an explosion is a threshold of the
    gradient norm too.
    """
    limit = rules.gradient_norm
    for name in runs.filter(kind="failure")["architecture"].unique().sort():
        healthy = to_frame(runs.filter(kind="success", architecture=name))
        deviations = healthy_band(healthy, band_features())
        quantiles = percentile_band(healthy, band_features(), settings.percentile)
        usual = quantiles.upper("max_gradient_norm", rules.healthy_sds)
        yield Calibration("reference", name, reference, limit)
        yield Calibration("own_deviations", name, deviations, limit)
        yield Calibration("own_percentile", name, quantiles, limit)
        yield Calibration("own_percentile_and_limit", name, quantiles, usual)


def weighed(reference: LabelledRuns, splits: pl.DataFrame, rules: ImprovedRules) -> Iterator[Fit]:
    """The rules with the weights of each fold of the main study."""
    for plan in by_scenario(st.NESTED_CV, splits):
        _, trained = plan.rows(splits, reference.table)
        runs = reference.frame[trained], reference.labels[trained]
        yield plan, clone(rules).fit(*runs, groups=reference.groups[trained])


def diagnoses(
    runs: pl.DataFrame, splits: pl.DataFrame, calibration: Calibration, fits: list[Fit]
) -> pl.DataFrame:
    """Every repeat's predictions: what conditions say does not depend on the fold, weights do.

    Noisy logs are diagnosed by the reference's thresholds alone.
    """
    if calibration.thresholds != "reference":
        runs = runs.filter(noise=RECORDED)
    frame = to_frame(runs.drop("noise", "log"))
    evaluated = EvaluatedConditions(frame)
    recalibrated = [
        (plan, fitted.recalibrated(calibration.band, calibration.gradient_norm))
        for plan, fitted in fits
    ]
    # The way through the tree is that of the thresholds, which all folds share.
    checked = [diagnosis.conditions for diagnosis in recalibrated[0][1].diagnose(frame)]
    described = runs.with_columns(
        study=pl.lit(RULES),
        feature_set=pl.lit(st.PRIMARY_SET),
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
            confidence=pl.Series(verdicts.confidence).round(st.DECIMALS),
            reason=pl.Series(verdicts.reasons.tolist(), dtype=pl.String),
            **{
                f"p_{category}": pl.Series(probabilities[:, position]).round(st.DECIMALS)
                for position, category in enumerate(st.CATEGORIES)
            },
        )
        fold = splits.filter(repeat=plan.repeat, fold=plan.split)
        parts.append(part.filter(pl.col("scenario").is_in(fold["scenario"].to_list())))
    return pl.concat(parts).select(RULE_PREDICTION_SCHEMA.names()).cast(RULE_PREDICTION_SCHEMA)


def main() -> None:
    predictions = rules_on_architectures(
        read_features(),
        st.read_splits(),
        *read_recordings(TELEMETRY, SCENARIOS),
        st.read_section("nested_cv", st.ReferenceStudy),
        st.read_section("improved_rules", st.ImprovedRulesSettings),
        st.read_section("architectures", ArchitecturesDesign),
        st.workers(),
    )
    st.write_parquet(predictions, PREDICTIONS)


if __name__ == "__main__":
    st.run(main)
