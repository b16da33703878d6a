"""A made-up anatomy: few scenarios, of which the way of ending tells the unknown ones."""

from __future__ import annotations

import polars as pl

from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import make_splits
from failbench.studies.unknown_anatomy.measure import measure
from failbench.studies.unknown_anatomy.measurements import Measurements
from failbench.studies.unknown_anatomy.results import (
    UnknownAnatomy,
    UnknownAnatomySettings,
    unknown_anatomy,
)
from failbench.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from made_up import made_up_predictions
from made_up_scenarios import made_up_scenarios, reference_runs

COUNT = 6
STEPS = 12
SCENARIOS = made_up_scenarios(COUNT)
REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
)
SETTINGS = UnknownAnatomySettings(
    left_out=("simulated_human",),
    neighbours=2,
    forest=RandomForestSettings(trees=8, inner_folds=2, max_features=(1.0,), min_samples_leaf=(1,)),
    repeats=2,
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.8,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)


def features() -> pl.DataFrame:
    """Failing runs, of which the unknown ones look like optimization, and two successful ones."""
    failing = reference_runs(SCENARIOS)
    masked = failing.with_columns(
        max_loss=pl.when(pl.col("category") == "unknown").then(3.0).otherwise("max_loss")
    )
    healthy = failing.head(2).with_columns(
        run_id=pl.format("healthy-{}", pl.int_range(pl.len())),
        kind=pl.lit("success"),
        scenario=pl.lit(None, pl.String),
        category=pl.lit(None, pl.String),
    )
    return pl.concat([masked, healthy])


def telemetry() -> Telemetry:
    """Every unknown run was killed; all others raised an error."""
    table = features()
    runs = [
        dict.fromkeys(RUN_SCHEMA)
        | {
            "run_id": run_id,
            "scenario": scenario,
            "ending": "signal" if category == "unknown" else "exception",
            "outcome": "killed" if category in {"unknown", "data_pipeline"} else "crash",
            "exit_signal": "SIGKILL" if category in {"unknown", "data_pipeline"} else None,
            "failure_step": STEPS - 1,
        }
        for run_id, scenario, category in table.select("run_id", "scenario", "category").rows()
    ]
    steps = [
        dict.fromkeys(STEP_SCHEMA)
        | {"run_id": run_id, "step": step, "step_seconds": 0.25 + 0.01 * (step % 3)}
        for run_id in table["run_id"]
        for step in range(STEPS)
    ]
    return Telemetry(pl.DataFrame(runs, schema=RUN_SCHEMA), pl.DataFrame(steps, schema=STEP_SCHEMA))


def splits() -> pl.DataFrame:
    """Three folds, twice."""
    categories = pl.DataFrame(
        [(scenario.id, scenario.category) for scenario in SCENARIOS],
        schema=["scenario", "category"],
        orient="row",
    )
    return make_splits(categories, folds=3, repeats=2, seed=0)


def predictions() -> pl.DataFrame:
    """Predictions of three methods, one of them a simulation."""
    methods = ("ebm", "random_forest", "simulated_human")
    return pl.concat(
        made_up_predictions(0.6, 3, COUNT, seed=number).with_columns(method=pl.lit(method))
        for number, method in enumerate(methods)
    )


def made_up_measurements(workers: int = 1) -> Measurements:
    """What is measured of these."""
    return measure(telemetry(), features(), splits(), REFERENCE, SETTINGS, workers)


def made_up_anatomy(
    measured: Measurements, settings: UnknownAnatomySettings = SETTINGS
) -> UnknownAnatomy:
    """The anatomy of these."""
    return unknown_anatomy(predictions(), measured, SCENARIOS, settings)
