"""Runs: what is seen of each failing run of a setting, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view

from failbench.arrays import Array
from failbench.features.feature_table import to_frame
from failbench.methods.healthy_band import healthy_band
from failbench.methods.rules import ErrorMatches
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRulesSettings
from failbench.prediction.slices import RunSetting
from failbench.scenarios import Scenario
from failbench.studies.onset.course import SIGNALS, step_distances
from failbench.studies.onset.settings import OnsetSettings
from failbench.studies.onset.signs import Band, Limits, first_signs, healthy_reach
from failbench.telemetry import Telemetry

BANDS: Final[tuple[Band, ...]] = ("sds", "reach", "untimed")
KEYS: Final = ("run_id", "category", "scenario", "seed")


def recorded_settings(runs: pl.DataFrame) -> tuple[RunSetting, ...]:
    """The settings of which failing runs are recorded, sorted by their names."""
    columns = ("architecture", "optimizer", "scale")
    of_failures = runs.filter(pl.col("kind") == "failure").select(columns).unique()
    settings = (RunSetting(**row) for row in of_failures.iter_rows(named=True))
    return tuple(sorted(settings, key=lambda setting: setting.name))


def observed_runs(
    telemetry: Telemetry,
    scenarios: Sequence[Scenario],
    features: pl.DataFrame,
    settings: OnsetSettings,
    simple: SimpleRulesSettings,
) -> pl.DataFrame:
    """What is seen of each failing run and each twin of one setting."""
    runs = _labelled(telemetry.runs, scenarios)
    distances = step_distances(telemetry)
    ends = runs.select("run_id", "failure_step")
    table = runs.select(
        *KEYS,
        "kind",
        "switched_on",
        since_onset=(pl.col("failure_step") - pl.col("onset_step")).cast(pl.Int64),
    )
    for band in BANDS:
        limits = _limits(telemetry, distances, band, settings)
        signs = first_signs(distances, ends, limits, settings.persistence)
        named = signs.rename({name: f"{band}_{name}" for name in signs.columns if name != "run_id"})
        table = table.join(named, on="run_id", how="left", maintain_order="left")
    of_setting = features.join(telemetry.runs.select("run_id"), on="run_id", how="semi")
    return (
        table.join(_norms(of_setting, simple), on="run_id", how="left", maintain_order="left")
        .join(_growth(telemetry.steps, ends, settings), on="run_id", how="left")
        .with_columns(norm_grew=pl.col("norm_grew").fill_null(value=False))
        .join(texts(of_setting), on="run_id", how="left")
        .sort("run_id")
    )


def _labelled(runs: pl.DataFrame, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    known = pl.DataFrame(
        [(each.id, each.category, each.fault.onset == "mid_run") for each in scenarios],
        schema={"scenario": pl.String, "category": pl.String, "switched_on": pl.Boolean},
        orient="row",
    )
    return (
        runs.filter(pl.col("kind").is_in(["failure", "twin"]))
        .join(known, on="scenario", how="inner")
        .sort("run_id")
    )


def _limits(
    telemetry: Telemetry, distances: pl.DataFrame, band: Band, settings: OnsetSettings
) -> dict[str, Limits]:
    if band != "reach":
        watched = [name for name in SIGNALS if band == "sds" or name != "step_seconds"]
        return dict.fromkeys(watched, Limits(settings.healthy_sds, settings.healthy_sds))
    successes = telemetry.runs.filter(pl.col("kind") == "success").select("run_id")
    healthy = distances.join(successes, on="run_id", how="semi")
    return healthy_reach(healthy, settings.persistence)


def _norms(features: pl.DataFrame, simple: SimpleRulesSettings) -> pl.DataFrame:
    """Whether the largest gradient norm exceeds the paper's threshold and the healthy one."""
    feature = "max_gradient_norm"
    successes = to_frame(features.filter(pl.col("kind") == "success"))
    healthy = healthy_band(successes, (feature,)).upper(feature, simple.healthy_sds)
    norm = pl.col(feature).fill_null(0.0).fill_nan(0.0)
    return features.select(
        "run_id",
        norm_above_paper=norm > simple.gradient_norm,
        norm_above_healthy=norm > healthy,
    )


def _growth(steps: pl.DataFrame, ends: pl.DataFrame, settings: OnsetSettings) -> pl.DataFrame:
    """Whether a gradient norm was so many times the median of the steps right before it."""
    seen = (
        steps.join(ends, on="run_id")
        .filter(pl.col("step") <= pl.col("failure_step"))
        .with_columns(pl.col("gradient_norm").cast(pl.Float64))
        .filter(pl.col("gradient_norm").is_finite())
    )
    rows = [
        (key[0], _grew(run["gradient_norm"].to_numpy(), settings))
        for key, run in seen.group_by("run_id", maintain_order=True)
    ]
    schema = {"run_id": pl.String, "norm_grew": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _grew(norms: Array, settings: OnsetSettings) -> bool:
    history = settings.growth_history
    if len(norms) <= history:
        return False
    before = np.median(sliding_window_view(norms[:-1], history), axis=-1)
    return bool((norms[history:] >= settings.growth * before).any())


TEXT_RULES: Final = tuple(
    (rule.category, rule.conditions[0])
    for rule in SIMPLE_RULES
    if isinstance(rule.conditions[0], ErrorMatches)
)
"""The patterns of error text among the simple rules, in their order: what a search for words in a
message comes to. They were written from documentation before a failure was recorded."""


def texts(features: pl.DataFrame) -> pl.DataFrame:
    """What the error text of runs says by itself."""
    failing = features.filter(pl.col("kind") == "failure")
    frame = to_frame(failing)
    named: list[str | None] = [None] * len(frame)
    for category, condition in reversed(TEXT_RULES):
        holds = condition.holds(frame).tolist()
        named = [category if held else name for name, held in zip(named, holds, strict=True)]
    text = pl.format("{}: {}", "error_type", pl.col("error_message").fill_null(""))
    categories = pl.col("category").n_unique().over("text")
    return failing.with_columns(
        has_text=pl.col("error_type").is_not_null(),
        named=pl.Series(named, dtype=pl.String),
        text=text.str.replace_all(r"\d+", "#"),
    ).select(
        "run_id",
        "has_text",
        "named",
        shared_text=pl.col("has_text") & (categories > 1),
    )
