"""Snapshots: what methods answer of runs that are cut some steps before they fail.

A snapshot is taken back from the failure, which nobody knows of beforehand. Two things keep that
from telling the label: classifiers do not see the number of steps, and every figure stands beside
the same figure of the healthy twins, cut at the same steps. Twins share all but the fault, so what
is right of them is owed to when the snapshot was taken and to how often each category occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS, PRIMARY_SET
from failbench.features.feature_table import feature_table, to_frame
from failbench.features.known_columns import flags_in
from failbench.methods.band_features import band_features
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy_band import healthy_band
from failbench.prediction.known import Known
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import nested_cv
from failbench.predictions import DECIMALS, PREDICTION_SCHEMA
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.studies.lead_time.settings import FAILING, HEALTHY, TWIN
from failbench.telemetry import Telemetry
from failbench.vocabulary import CATEGORIES

STUDY = "lead_time"
EARLY_SET = "19 without steps"
EARLY_FEATURES = tuple(name for name in FEATURE_SETS[PRIMARY_SET] if name != "steps_before_failure")
"""What classifiers learn from: how long a run has lasted tells when the snapshot was taken."""


@dataclass(frozen=True)
class Snapshots:
    """The runs of a study, cut some steps before their failure, and their twins."""

    ahead: int
    failing: pl.DataFrame
    twins: pl.DataFrame


def cut_before_failure(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    runs: pl.DataFrame,
    ahead: int,
    known: Known | None = None,
) -> Snapshots:
    """Cut failing runs ``ahead`` steps before their failure, and their twins at the same steps."""
    defined = tuple(scenarios)
    cut = runs.with_columns(last_step=pl.col("failure_step") - ahead)
    begun = cut.filter(pl.col("last_step") >= 0)
    twins = telemetry.runs.filter(pl.col("kind") == "twin").select("run_id", "twin_of")
    of_begun = begun.select("last_step", twin_of="run_id").join(twins, on="twin_of", how="left")
    alone = of_begun.filter(pl.col("run_id").is_null())
    if alone.height:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "twin_of",
            f"the run {alone['twin_of'][0]!r} has no twin.",
            "Run `failbench record` for the setting.",
        )
    failing, healthy = (
        feature_table(telemetry, defined, table.select("run_id", "last_step"))
        for table in (begun, of_begun)
    )
    if known is not None:
        cuts = pl.col("run_id").alias("run"), pl.col("last_step")
        failing = known.beside_cuts(
            failing, begun.select("run_id", *cuts, at_failure=pl.lit(ahead == 0))
        )
        healthy = known.beside_cuts(
            healthy, of_begun.select("run_id", *cuts, at_failure=pl.lit(value=False))
        )
    return Snapshots(ahead, failing, healthy)


def snapshot_predictions(
    snapshots: Snapshots,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    seed: int,
) -> pl.DataFrame:
    """What a method answers at one number of steps before failure, of failing runs and of twins."""
    subsets = {
        subset: nested_cv(
            table, successes, splits, method, settings, {EARLY_SET: EARLY_FEATURES}, seed
        ).with_columns(evidence=pl.lit(None, pl.Boolean))
        for subset, table in {FAILING: snapshots.failing, TWIN: snapshots.twins}.items()
    }
    subsets[HEALTHY] = _of_healthy(snapshots, successes, method, settings, seed)
    return pl.concat(
        table.with_columns(
            study=pl.lit(STUDY),
            subset=pl.lit(subset),
            steps_ahead=pl.lit(snapshots.ahead, pl.Int32),
        )
        for subset, table in subsets.items()
    )


def _of_healthy(
    snapshots: Snapshots, successes: pl.DataFrame, method: str, settings: Record, seed: int
) -> pl.DataFrame:
    """What the method answers of each twin when trained on all failing runs, and on evidence."""
    runs = LabelledRuns.from_table(snapshots.failing)
    band = healthy_band(to_frame(successes), band_features())
    context = Context(EARLY_FEATURES, band, seed, known=flags_in(runs.frame.columns))
    estimator = method_named(method).build(settings, context)
    estimator.fit(runs.frame, runs.labels, groups=runs.groups)
    twins = to_frame(snapshots.twins)
    diagnoses = estimator.diagnose(twins)
    probabilities = estimator.predict_proba(twins)
    answers = {
        name: pl.Series([getattr(diagnosis, name) for diagnosis in diagnoses], dtype=dtype)
        for name, dtype in PREDICTION_SCHEMA.items()
        if name in ("confidence", "reason", "route", "conditions")
    }
    table = snapshots.twins.with_columns(
        study=pl.lit(STUDY),
        feature_set=pl.lit(EARLY_SET),
        method=pl.lit(method),
        repeat=pl.lit(0),
        fold=pl.lit(None),
        **answers,
        prediction=pl.Series([diagnosis.category for diagnosis in diagnoses], dtype=pl.String),
        **{
            f"p_{category}": pl.Series(probabilities[:, position]).round(DECIMALS)
            for position, category in enumerate(CATEGORIES)
        },
    )
    evidence = [bool(diagnosis.evidence) for diagnosis in diagnoses]
    return (
        table.select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
        .with_columns(evidence=pl.Series(evidence, dtype=pl.Boolean))
    )
