"""Portability: what thresholds and classifiers of one optimizer are worth under another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table
from failbench.methods.classifiers import LogisticRegressionSettings, RandomForestSettings
from failbench.prediction.conditions import by_view, stacked
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import RunSetting
from failbench.prediction.splits import first_repeats
from failbench.prediction.workers import parallel_map
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.comparison import Comparison, comparison_metrics
from failbench.statistics.intervals import (
    IntervalSettings,
    interval_rows,
    nested_metrics,
    scenario_intervals,
)
from failbench.statistics.metrics import OVERALL
from failbench.statistics.paired_scores import Pair
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import SignificanceSettings, compare_all
from failbench.studies.portability.rescaling import adapted, band_of, changes, recalibrated
from failbench.telemetry import Telemetry

STUDY = "portability"
HOME, HOME_ADAPTIVE = "home", "home_adaptive"
FIXED, RECALIBRATED, ADAPTIVE = "fixed", "recalibrated", "adaptive"
"""The runs of the optimizer at home, and of the other one on three scales."""

TRAINED: Mapping[str, tuple[str, ...]] = {
    HOME: (HOME, FIXED, RECALIBRATED),
    HOME_ADAPTIVE: (HOME_ADAPTIVE, ADAPTIVE),
}
"""What each fit is trained on, and what it is then tested on."""

PRIMARY_SET = "19"
REPORTED_METRICS = tuple(
    metric for metric in OVERALL if metric.name in ("accuracy", "macro_f1", "abstention_rate")
)


class PortabilitySettings(Record):
    """What is carried where, and how it is compared; the section ``portability`` of params.yaml."""

    home: RunSetting
    away: RunSetting
    own_history_steps: int = Field(ge=2)
    repeats: int = Field(ge=1)
    contrasts: tuple[Pair, ...] = Field(min_length=1)
    seed: int = Field(ge=0)
    logistic_regression: LogisticRegressionSettings
    random_forest: RandomForestSettings


@dataclass(frozen=True)
class Portability:
    """What the study found.

    Attributes
    ----------
    rates
        A row a (``method``, ``condition``, ``metric``), with value, interval, ``n`` scenarios and
        ``runs``.
    comparisons
        Of the conditions of each method, whose name is their ``feature_set``: the contrasts named
        beforehand, adjusted over those of the method, then the other pairs.
    """

    rates: pl.DataFrame
    comparisons: tuple[Comparison, ...]


def portability_study(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    splits: pl.DataFrame,
    methods: Mapping[str, Record],
    settings: PortabilitySettings,
    intervals: IntervalSettings,
    tests: SignificanceSettings,
    workers: int = 1,
) -> Portability:
    """Test methods of the optimizer at home on runs of another, thresholds kept or carried over.

    A scenario that is tested, under whichever optimizer, was trained on under neither. Thresholds
    are those of the successful runs at home in every condition; what changes is the scale that
    features are read on (see :mod:`failbench.studies.portability.rescaling`).

    Parameters
    ----------
    telemetry, scenarios
        Recorded runs of both settings, and where their categories come from.
    splits
        Folds by scenario.
    methods
        Settings by name in ``methods.catalogue.CATALOGUE``.
    settings
        Which runs, and the contrasts.
    intervals
        How intervals are made.
    tests
        Margins, level and power; its contrasts and feature set are not looked at.
    workers
        Processes; the result does not depend on it.

    Raises
    ------
    BadInputError
        If one of the settings was not recorded, or a fault that starts mid-run starts within the
        steps that count as a run's own history.
    """
    views, successes = portability_views(telemetry, tuple(scenarios), settings)
    folds = first_repeats(splits, settings.repeats, "portability")
    named = {
        view: table.with_columns(run_id=pl.format("{}@{}", "run_id", pl.lit(view)))
        for view, table in views.items()
    }
    parts = [
        nested_cv(
            stacked({view: named[view] for view in tested}),
            successes,
            folds,
            method,
            own,
            {PRIMARY_SET: FEATURE_SETS[PRIMARY_SET]},
            settings.seed,
            workers,
            by_view(STUDY, folds, trained, tested),
        )
        for method, own in methods.items()
        for trained, tested in TRAINED.items()
    ]
    predictions = pl.concat(parts).with_columns(
        condition=pl.col("run_id").str.split("@").list.last()
    )
    tasks = [
        (str(method), str(condition), part, intervals)
        for (method, condition), part in predictions.sort("method", "condition").group_by(
            "method", "condition", maintain_order=True
        )
    ]
    rates = pl.concat(parallel_map(_rates, tasks, workers))
    compared = parallel_map(
        _comparisons,
        [
            (method, predictions.filter(pl.col("method") == method), settings.contrasts, tests)
            for method in methods
        ],
        workers,
    )
    return Portability(rates, tuple(chain.from_iterable(compared)))


def portability_views(
    telemetry: Telemetry, scenarios: Sequence[Scenario], settings: PortabilitySettings
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """The failing runs of both settings on every scale, and the successful ones at home.

    Taken are scenarios and seeds that were recorded in both settings.

    Raises
    ------
    BadInputError
        If there are no such runs, or onset and early history overlap.
    """
    own = {name: getattr(settings, name) for name in ("home", "away")}
    tables, early = {}, {}
    for name, setting in own.items():
        runs = setting.of(telemetry.runs).filter(pl.col("kind") != "twin")
        _refuse_early_onsets(runs, scenarios, settings.own_history_steps)
        for kind in ("failure", "success"):
            if runs.filter(pl.col("kind") == kind).is_empty():
                raise BadInputError(
                    "data/telemetry/runs.parquet",
                    "optimizer",
                    f"there is no {kind} run of {setting.architecture} with {setting.optimizer} at "
                    f"scale {setting.scale}.",
                    "Name the setting in record.settings of params.yaml and run `failbench "
                    "record`.",
                )
        tables[name] = feature_table(
            telemetry, scenarios, runs.select("run_id", last_step="failure_step")
        )
        lived = runs.filter(pl.col("failure_step") >= settings.own_history_steps)
        last = pl.lit(settings.own_history_steps - 1, dtype=pl.Int32)
        early[name] = feature_table(telemetry, scenarios, lived.select("run_id", last_step=last))
    failures, healthy = (
        {name: table.filter(pl.col("kind") == kind) for name, table in tables.items()}
        for kind in ("failure", "success")
    )
    common = ["scenario", "seed"]
    home = failures["home"].join(failures["away"], on=common, how="semi").sort("run_id")
    away = failures["away"].join(failures["home"], on=common, how="semi").sort("run_id")
    band = band_of(healthy["home"])
    changing = band_of(changes(healthy["home"], early["home"]))
    return {
        HOME: home,
        FIXED: away,
        RECALIBRATED: recalibrated(away, band_of(healthy["away"]), band),
        HOME_ADAPTIVE: adapted(home, early["home"], changing, band),
        ADAPTIVE: adapted(away, early["away"], changing, band),
    }, healthy["home"]


def portability_metrics(found: Portability, alpha: float) -> dict[str, object]:
    """Nested scalars: rates by method and condition, and the contrasts of each method."""
    rates = nested_metrics(found.rates.with_columns(feature_set="method", method="condition"))
    tests = {
        method: comparison_metrics(
            [one for one in found.comparisons if one.feature_set == method], alpha
        )["contrasts"]
        for method in rates
    }
    return {"rates": rates, "contrasts": tests}


def _refuse_early_onsets(runs: pl.DataFrame, scenarios: Sequence[Scenario], steps: int) -> None:
    mid_run = [one.id for one in scenarios if one.fault.onset == "mid_run"]
    early = runs.filter(pl.col("scenario").is_in(mid_run), pl.col("onset_step") < steps)
    if early.height:
        raise BadInputError(
            "params.yaml",
            "portability.own_history_steps",
            f"the fault of {early['run_id'][0]!r} starts at step {early['onset_step'][0]}, within "
            f"the {steps} steps that count as its own history.",
            "Use fewer steps than the earliest onset.",
        )


def _rates(
    method: str, condition: str, predictions: pl.DataFrame, intervals: IntervalSettings
) -> pl.DataFrame:
    found = scenario_intervals(scenario_answers(predictions), REPORTED_METRICS, intervals)
    return interval_rows(PRIMARY_SET, method, found).select(
        "method",
        pl.lit(condition).alias("condition"),
        pl.exclude("method", "feature_set"),
        pl.lit(predictions["run_id"].n_unique()).alias("runs"),
    )


def _comparisons(
    method: str,
    predictions: pl.DataFrame,
    contrasts: tuple[Pair, ...],
    tests: SignificanceSettings,
) -> tuple[Comparison, ...]:
    conditions = predictions.with_columns(feature_set="method", method="condition")
    own = tests.model_copy(update={"feature_set": method, "contrasts": contrasts})
    return compare_all(conditions, own)
