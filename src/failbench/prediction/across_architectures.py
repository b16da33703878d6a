"""Across architectures: all of them pooled, and one at a time left out."""

from __future__ import annotations

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA, first_repeats
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.base.studies import KNOWN_SCENARIOS, POOLED
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.fold_plans import by_architecture, by_scenario
from failbench.prediction.known import Known
from failbench.prediction.nested_cv import nested_cv


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
