"""All features of all runs at once, against the same formulas run by run in pandas."""

import re
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
from polars.testing import assert_frame_equal

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.catalogue import FEATURE_SETS, KEYWORDS, MEMORY_WARNING, extract
from failbench.features.feature import CEILING, RECENT_STEPS
from failbench.features.observables import RUN_COLUMNS, Observables

RUNS, STEPS = 3_400, 250
"""About what is recorded: seven settings of 76 scenarios with three seeds, twins and successes."""

BY_HAND = 40
"""Runs that are also gone through one by one; a run costs the same however many there are."""


def observables_of_many_runs() -> Observables:
    """Runs that differ in length and in what they logged; one in nine left the numbers behind."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(STEPS // 2, STEPS, RUNS)
    size = int(lengths.sum())
    rows = np.repeat(np.arange(RUNS), lengths)
    step = np.concatenate([np.arange(length) for length in lengths])
    types = {name: dtype for name, dtype in STEP_SCHEMA.items() if name != "run_id"}
    steps = pl.DataFrame(
        {
            "row": rows, **{name: rng.integers(1, 100, size) for name in types}, "step": step,
            "loss": np.where((rows % 9 == 0) & (step > 100), np.inf, rng.uniform(1, 9, size)),
            "gradient_norm": rng.lognormal(0, 2, size),
            "learning_rate": rng.uniform(1e-4, 1e-2, size), "tokens": rng.integers(100, 200, size),
            "validation_loss": rng.uniform(1, 9, size),
        }
    ).with_columns(
        validation_loss=pl.when(pl.col("step") % 10 == 0).then("validation_loss"),
        clip_norm=pl.when(pl.col("row") % 3 > 0).then(1.0),
    )  # fmt: skip
    raised = pl.col("row") % 2 == 0
    message = pl.lit("The size of tensor a (4) must match the size of tensor b (3)")
    runs = pl.DataFrame({"row": np.arange(RUNS)}).with_columns(
        **{name: pl.lit(None, RUN_SCHEMA[name]) for name in RUN_COLUMNS}
        | {
            "error_type": pl.when(raised).then(pl.lit("RuntimeError")),
            "error_message": pl.when(raised).then(message),
            "parameters": pl.lit(500_000),
            "capacity_bytes": pl.lit(100),
        }
    )
    return Observables(runs, steps.cast(types))


def slope_by_hand(steps: pd.Series, values: pd.Series) -> float:
    seen = values.notna()
    return float(np.polyfit(steps[seen], values[seen], 1)[0]) if seen.sum() > 1 else np.nan


def features_of_one_run(run: pd.Series, steps: pd.DataFrame) -> dict[str, float]:
    """The formulas of the feature sets in the plain way; what was not logged is NaN here."""
    loss, norm, validation = (
        steps[name].astype(float).clip(upper=CEILING)
        for name in ("loss", "gradient_norm", "validation_loss")
    )
    memory = steps["memory_bytes"] / run["capacity_bytes"]
    recent = steps.tail(RECENT_STEPS)
    tokens = recent["tokens"].sum()
    last_loss = (validation if validation.notna().any() else loss).dropna().iloc[-1]
    text = ": ".join(part for part in (run["error_type"], run["error_message"]) if pd.notna(part))
    return {
        "learning_rate_at_failure": steps["learning_rate"].dropna().iloc[-1],
        "steps_before_failure": len(steps),
        **{f"{name}_loss": getattr(loss, name)() for name in ("max", "mean")},
        **{f"{name}_gradient_norm": getattr(norm, name)() for name in ("max", "mean")},
        "gradient_norm_variance": norm.var(),
        "loss_trend": slope_by_hand(steps["step"], loss),
        "peak_memory": memory.max(),
        "memory_at_failure": memory.dropna().iloc[-1],
        "memory_growth_rate": slope_by_hand(steps["step"], memory),
        "memory_warning": float((memory > MEMORY_WARNING).any()),
        "perplexity": np.exp(min(last_loss, np.log(CEILING))),
        "vocabulary_coverage": recent["covered_tokens"].sum() / tokens,
        "oov_rate": recent["unknown_tokens"].sum() / tokens,
        "sequence_length_spread": recent["max_length"].max() - recent["mean_length"].min(),
        "batch_size": steps["sequences"].dropna().iloc[-1],
        "parameter_count": run["parameters"],
        "gradient_clipping": float(pd.notna(steps["clip_norm"].iloc[-1])),
        "perplexity_trend": slope_by_hand(steps["step"], validation),
        **{
            f"keyword_{one.name}": float(bool(re.search(one.pattern, text, re.IGNORECASE)))
            for one in KEYWORDS
        },
    }


def run_by_run(runs: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    of_runs = dict(list(steps.groupby("row")))
    return pd.DataFrame([features_of_one_run(run, of_runs[row]) for row, run in runs.iterrows()])


def seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def test_a_run_costs_at_most_a_twentieth_of_what_a_pandas_loop_of_the_same_formulas_takes():
    observables = observables_of_many_runs()
    few = pl.col("row") < BY_HAND
    runs = observables.runs.filter(few).to_pandas().set_index("row")
    steps = observables.steps.filter(few).to_pandas()
    found = extract(observables)
    at_once = min(seconds(lambda: extract(observables)) for _ in range(3)) / RUNS
    by_run = min(seconds(lambda: run_by_run(runs, steps)) for _ in range(3)) / BY_HAND
    expected = pl.from_pandas(run_by_run(runs, steps).astype(float))
    assert set(FEATURE_SETS["19+keywords"]) <= set(expected.columns)
    mine = found.filter(few).select(expected.columns)
    assert_frame_equal(mine, expected, rel_tol=1e-6, abs_tol=1e-9)
    assert by_run > 20 * at_once
