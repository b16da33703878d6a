"""Alarm scores: how unlike successful runs the failing ones are, and other healthy ones."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of, snapshot_table
from failbench.methods.band_features import band_features
from failbench.scenarios import Scenario
from failbench.studies.lead_time.healthy_course import healthy_course
from failbench.studies.lead_time.looks import looks
from failbench.telemetry import Telemetry


def alarm_scores(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    tested: pl.DataFrame,
    successes: pl.DataFrame,
    every: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score the runs to watch, and twins of other seeds, against the course of successful runs."""
    twins = _twins_of_other_seeds(telemetry.runs, tested)

    def cut(runs: pl.DataFrame, end: pl.Expr) -> pl.DataFrame:
        return snapshot_table(telemetry, scenarios, looks(runs, every, pl.lit(1), end))

    course = healthy_course(cut(successes, pl.col("failure_step")), band_features())
    highest = (
        course.scores(cut(twins, pl.col("failure_step")))
        .group_by("run_id")
        .agg(pl.col("score").max())
        .join(twins.select("scenario", "run_id"), on="run_id")
        .join(categories_of(scenarios), on="scenario")
        .select("run_id", "category", "scenario", "score")
        .sort("category", "scenario", "run_id")
    )
    watched = course.scores(cut(tested, pl.col("failure_step") - 1))
    return watched.sort("run_id", "step"), highest


def _twins_of_other_seeds(runs: pl.DataFrame, tested: pl.DataFrame) -> pl.DataFrame:
    setting = ["architecture", "optimizer", "scale"]
    twins = (
        runs.filter(pl.col("kind") == "twin")
        .join(tested.select(setting).unique(), on=setting, how="semi")
        .filter(~pl.col("seed").is_in(tested["seed"].unique().to_list()))
    )
    if twins.is_empty():
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "seed",
            "there are no twins of other seeds to calibrate the alarm on.",
            "Raise the seeds of the setting in record.settings and run `failbench record`.",
        )
    return twins
