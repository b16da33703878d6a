"""Measurement of lead time: what methods answer before the failure, and how runs stray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import polars as pl

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of, feature_table, snapshot_table
from failbench.prediction.known import Known
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import first_repeats
from failbench.prediction.workers import parallel_map
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.studies.lead_time.alarm_scores import alarm_scores
from failbench.studies.lead_time.looks import look_predictions, looks, spread_over_fault
from failbench.studies.lead_time.measurements import Measurements
from failbench.studies.lead_time.settings import LeadTimeSettings
from failbench.studies.lead_time.snapshots import STUDY, cut_before_failure, snapshot_predictions
from failbench.telemetry import Telemetry


def measure(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    splits: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    settings: LeadTimeSettings,
    workers: int = 1,
    known: Known | None = None,
) -> Measurements:
    """Ask methods before the failure, at a number of steps and over time, and score all runs.

    The healthy course and the fixed thresholds come from the successful runs; twins of other seeds
    than the tested runs are scored to calibrate the alarm and to try it.
    """
    defined = tuple(scenarios)
    folds = first_repeats(splits, settings.repeats, f"{STUDY}.repeats")
    runs = study.with_seed(settings.run_seed).failures(telemetry.runs)
    if runs.is_empty():
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "run_id",
            f"there is no failing run of {study.architecture} with {study.optimizer}, "
            f"seed {settings.run_seed}.",
            "Choose recorded runs by nested_cv and lead_time.run_seed in params.yaml.",
        )
    healthy = study.successes(telemetry.runs)
    scores, healthy_scores = alarm_scores(telemetry, defined, runs, healthy, settings.every)
    successes = feature_table(
        telemetry, defined, healthy.select("run_id", last_step="failure_step")
    )
    cuts = [cut_before_failure(telemetry, defined, runs, ahead, known) for ahead in settings.steps]
    early = parallel_map(
        snapshot_predictions,
        [
            (cut, successes, folds, method, method_settings, study.seed)
            for (method, method_settings), cut in product(methods.items(), cuts)
        ],
        workers,
    )
    late = _late(
        telemetry, defined, runs, successes, folds, study, methods, settings, workers, known
    )
    return Measurements(
        pl.concat([*early, *late], how="diagonal"),
        runs.join(categories_of(defined), on="scenario", maintain_order="left").select(
            "run_id", "category", "scenario", "onset_step", "failure_step"
        ),
        scores,
        healthy_scores,
    )


def _late(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    runs: pl.DataFrame,
    successes: pl.DataFrame,
    folds: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    settings: LeadTimeSettings,
    workers: int,
    known: Known | None,
) -> list[pl.DataFrame]:
    """What each method answers at every look from onset to before the failure."""
    onset, last = pl.col("onset_step"), pl.col("failure_step") - 1
    watched = snapshot_table(telemetry, scenarios, looks(runs, settings.every, onset, last))
    training = snapshot_table(
        telemetry, scenarios, spread_over_fault(runs, settings.training_snapshots)
    )
    if known is not None:
        watched, training = known.beside_snapshots(watched), known.beside_snapshots(training)
    return [
        look_predictions(
            training, watched, successes, folds, method, method_settings, study.seed, workers
        )
        for method, method_settings in methods.items()
    ]
