from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import polars as pl

from failbench.features import extract
from failbench.observables import Observables
from failbench.telemetry import RUN_SCHEMA, STEP_SCHEMA

RUNS, STEPS = 300, 200


def observables_of_many_runs() -> Observables:
    rng = np.random.default_rng(0)
    size = RUNS * STEPS
    steps = pl.DataFrame(
        {
            "row": np.repeat(np.arange(RUNS), STEPS),
            **{name: rng.integers(1, 100, size) for name in STEP_SCHEMA if name != "run_id"},
            "step": np.tile(np.arange(STEPS), RUNS),
        }
    ).cast({name: dtype for name, dtype in STEP_SCHEMA.items() if name != "run_id"})
    runs = pl.DataFrame({"row": np.arange(RUNS)}).with_columns(
        pl.lit(None, RUN_SCHEMA[name]).alias(name)
        for name in ("error_type", "error_message", "parameters")
    )
    return Observables(runs.with_columns(capacity_bytes=pl.lit(100)), steps)


def loss_features_run_by_run(observables: Observables) -> list[tuple[float, float, float, float]]:
    """A quarter of the features in the plain way, a pandas frame a run."""
    return [
        (
            run["loss"].max(),
            run["loss"].mean(),
            run["gradient_norm"].var(),
            np.polyfit(run["step"], run["loss"], 1)[0],
        )
        for _, run in observables.steps.to_pandas().groupby("row")
    ]


def seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def test_extracting_all_features_at_once_beats_a_quarter_of_them_run_by_run(benchmark):
    observables = observables_of_many_runs()
    extract(observables)
    at_once = min(seconds(lambda: extract(observables)) for _ in range(3))
    run_by_run = min(seconds(lambda: loss_features_run_by_run(observables)) for _ in range(3))
    benchmark.extra_info["times_faster"] = run_by_run / at_once
    benchmark.pedantic(extract, args=(observables,), rounds=3)
    assert run_by_run > 2 * at_once
