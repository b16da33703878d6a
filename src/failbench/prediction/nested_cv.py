"""Nested cross-validation: out-of-fold predictions of one method, saved once for every reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl

from failbench.base.arrays import Labels, Mask
from failbench.base.errors import BadInputError
from failbench.base.known_columns import flags_in
from failbench.base.predictions import DECIMALS, PREDICTION_SCHEMA, first_repeats
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.base.studies import KNOWN_SCENARIOS, NESTED_CV, POOLED
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import CATEGORIES
from failbench.base.workers import parallel_map
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import to_frame
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context, Method, MethodDeclaration
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.known import Known
from failbench.prediction.splits import FoldPlan, by_architecture, by_scenario


@dataclass(frozen=True)
class LabelledRuns:
    """Failing runs with what is known of them: four parallel views, one row per run."""

    table: pl.DataFrame
    frame: pd.DataFrame
    labels: Labels
    groups: Labels

    @classmethod
    def from_table(cls, table: pl.DataFrame) -> LabelledRuns:
        """Take a feature table of failing runs apart."""
        ordered = table.sort("run_id")
        return cls(
            ordered,
            to_frame(ordered),
            ordered["category"].to_numpy().astype(object),
            ordered["scenario"].to_numpy().astype(object),
        )


def nested_cv(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str | MethodDeclaration,
    settings: Record,
    feature_sets: Mapping[str, tuple[str, ...]],
    seed: int,
    workers: int = 1,
    plans: Sequence[FoldPlan] | None = None,
) -> pl.DataFrame:
    """Predict every run by a fit of each repeat that has not learnt from it.

    A method that reads no features answers alike with every set of them, and is fitted for one.
    """
    runs = LabelledRuns.from_table(failures)
    if plans is None:
        plans = by_scenario(NESTED_CV, splits)
    bands = {
        left_out: healthy_band(to_frame(_without(successes, left_out)), all_band_features())
        for left_out in {plan.left_out for plan in plans}
    }
    fitted = list(feature_sets) if _declared(method).reads_features else [next(iter(feature_sets))]
    tasks = [
        (runs, bands[plan.left_out], splits, method, settings, name, feature_sets[name], seed, plan)
        for name in fitted
        for plan in plans
    ]
    parts = parallel_map(_predict_fold, tasks, workers)
    others = [name for name in feature_sets if name not in fitted]
    parts += [
        part.with_columns(feature_set=pl.lit(name)) for name in others for part in tuple(parts)
    ]
    return pl.concat(parts).sort(PREDICTION_SCHEMA.names()[:6])


def _without(successes: pl.DataFrame, architecture: str | None) -> pl.DataFrame:
    if architecture is None:
        return successes
    return successes.filter(pl.col("architecture") != architecture)


def fit_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str | MethodDeclaration,
    settings: Record,
    columns: tuple[str, ...],
    seed: int,
    plan: FoldPlan,
) -> tuple[Method, Mask]:
    """A fitted method, and the mask of the runs that it is tested on, ``[n_runs]``."""
    tested, trained = plan.rows(splits, runs.table)
    declaration = _declared(method)
    key = dict(zip(runs.frame.index[tested], runs.labels[tested], strict=True))
    fit_seed = fold_seed(seed, plan.repeat, plan.fold)
    truth = key if declaration.simulation else {}
    context = Context(columns, band, fit_seed, truth, flags_in(runs.frame.columns))
    estimator = declaration.build(settings, context)
    estimator.fit(runs.frame[trained], runs.labels[trained], groups=runs.groups[trained])
    return estimator, tested


def _predict_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str | MethodDeclaration,
    settings: Record,
    feature_set: str,
    columns: tuple[str, ...],
    seed: int,
    plan: FoldPlan,
) -> pl.DataFrame:
    estimator, tested = fit_fold(runs, band, splits, method, settings, columns, seed, plan)
    name = _declared(method).name
    return fold_predictions(
        estimator, runs.table, runs.frame, tested, plan, feature_set=feature_set, method=name
    )


def fold_predictions(
    estimator: Method,
    table: pl.DataFrame,
    frame: pd.DataFrame,
    tested: Mask,
    plan: FoldPlan,
    *,
    feature_set: str,
    method: str,
) -> pl.DataFrame:
    """What a fitted method predicts for the tested runs of its fold."""
    diagnoses = estimator.diagnose(frame[tested])
    probabilities = estimator.predict_proba(frame[tested])
    return (
        table.filter(pl.Series(tested))
        .with_columns(
            study=pl.lit(plan.study),
            feature_set=pl.lit(feature_set),
            method=pl.lit(method),
            repeat=pl.lit(plan.repeat),
            fold=pl.lit(plan.fold),
            prediction=_column(diagnoses, "category", pl.String()),
            confidence=_column(diagnoses, "confidence", pl.Float64()).round(DECIMALS),
            reason=_column(diagnoses, "reason", pl.String()),
            route=_column(diagnoses, "route", pl.String()),
            conditions=_column(diagnoses, "conditions", pl.Int32()),
            **{
                f"p_{category}": pl.Series(probabilities[:, position]).round(DECIMALS)
                for position, category in enumerate(CATEGORIES)
            },
        )
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )


def _declared(method: str | MethodDeclaration) -> MethodDeclaration:
    return method_named(method) if isinstance(method, str) else method


def _column(diagnoses: tuple[Diagnosis, ...], name: str, dtype: pl.DataType) -> pl.Series:
    return pl.Series(name, [getattr(diagnosis, name) for diagnosis in diagnoses], dtype=dtype)


def fold_seed(seed: int, repeat: int, fold: int) -> int:
    """Seed of one fit, a function of the study's seed, the repeat and the fold alone."""
    return int(np.random.SeedSequence([seed, repeat, fold]).generate_state(1)[0])


def across_architectures(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    study: AcrossArchitectures,
    workers: int = 1,
    known: Known | None = None,
) -> pl.DataFrame:
    """Predict runs of all architectures, by fits that saw all of them and fits that did not."""
    taken = study.slice(features)
    architectures = taken["architecture"].unique().to_list()
    if len(architectures) < 2:
        raise BadInputError(
            "features",
            "architecture",
            f"{len(architectures)} architecture was recorded with {study.optimizer} at scale "
            f"{study.scale}; leaving one out takes two.",
            "Run `failbench record` for another architecture.",
        )
    folds = first_repeats(splits, study.repeats, "across_architectures.repeats")
    failures = taken.filter(pl.col("kind") == "failure")
    plans = (
        *by_scenario(POOLED, folds),
        *by_architecture(folds, architectures, study.known_seed),
    )
    seen = [(failures, plans)]
    if known is not None:
        watched = failures.filter(pl.col("seed").is_in(study.monitored_seeds))
        has_others = set(study.monitored_seeds) != {study.known_seed}
        asked = [plan for plan in plans if has_others or plan.study != KNOWN_SCENARIOS]
        seen = [
            (
                known.beside(watched, left_out=left_out),
                tuple(plan for plan in asked if plan.left_out == left_out),
            )
            for left_out in (None, *sorted(architectures))
        ]
    parts = [
        nested_cv(
            table,
            taken.filter(pl.col("kind") == "success"),
            folds,
            method,
            settings,
            {name: FEATURE_SETS[name] for name in study.feature_sets},
            study.seed,
            workers,
            of_table,
        )
        for table, of_table in seen
    ]
    return pl.concat(parts).sort(PREDICTION_SCHEMA.names()[:6])
