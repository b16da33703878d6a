from itertools import product

import numpy as np
import polars as pl

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.base.vocabulary import CATEGORIES
from made_up_scenarios import made_up_scenario

SCENARIOS = 4
"""A category."""
STEPS, ONSET = 20, 8
SETTING = {"architecture": "transformer", "scale": "small"}


def made_up_scenarios():
    """Every fault starts mid-run."""
    return tuple(
        made_up_scenario(f"{category}_{number}", category, expected_outcome="diverged")
        for category, number in product(CATEGORIES, range(SCENARIOS))
    )


def made_up_telemetry(optimizer="adamw", seeds=1, successes=3, scale=1.0):
    """After onset the loss rises by what the category adds; ``scale`` multiplies gradient norms."""
    runs, steps = [], []
    for index, number, seed in product(range(len(CATEGORIES)), range(SCENARIOS), range(seeds)):
        scenario = f"{CATEGORIES[index]}_{number}"
        run_id = f"{scenario}-{optimizer}-s{seed}"
        keys = {"scenario": scenario, "seed": seed, "optimizer": optimizer}
        runs.append(_run(run_id, "failure", onset_step=ONSET, outcome="diverged", **keys))
        runs.append(_run(f"{run_id}-twin", "twin", twin_of=run_id, **keys))
        steps += _steps(run_id, [index, number, seed], index + 1.0, scale)
        steps += _steps(f"{run_id}-twin", [index, number, seed], 0.0, scale)
    for number in range(successes):
        run_id = f"success-{optimizer}-s{number}"
        runs.append(_run(run_id, "success", seed=number, optimizer=optimizer))
        steps += _steps(run_id, [99, number], 0.0, scale)
    return telemetry_of(runs, steps)


def telemetry_of(runs, steps):
    """Telemetry of rows, which need not have all columns."""
    return Telemetry(
        pl.DataFrame(runs, schema=RUN_SCHEMA).sort("run_id"),
        pl.DataFrame(steps, schema=STEP_SCHEMA).sort("run_id", "step"),
    )


def together(*parts: Telemetry) -> Telemetry:
    return Telemetry(
        pl.concat([part.runs for part in parts]).sort("run_id"),
        pl.concat([part.steps for part in parts]).sort("run_id", "step"),
    )


def _run(run_id, kind, **values):
    facts = {"run_id": run_id, "kind": kind, "device": "cpu", "steps": STEPS}
    facts |= {"ending": "completed", "outcome": "completed", "failure_step": STEPS - 1}
    facts |= {"capacity_bytes": 1000, "parameters": 100}
    return SETTING | facts | values


def _steps(run_id, seed, fault, scale):
    rng = np.random.default_rng(seed)
    usual = {"run_id": run_id, "step_seconds": 0.1, "sequences": 16, "tokens": 100}
    rows = []
    for step in range(STEPS):
        noise = rng.uniform(0, 1, 6)
        loss = 6 - step / 10 + noise[0] / 10 + (fault if step >= ONSET else 0.0)
        few = int(5 * noise[4])
        facts = {"step": step, "loss": loss, "gradient_norm": scale * (1 + noise[1])}
        facts |= {"learning_rate": scale * (1 + noise[2]) / 100}
        facts |= {"memory_bytes": 400 + int(100 * noise[3])}
        facts |= {"unknown_tokens": few, "covered_tokens": 95 + few, "max_length": 40}
        facts |= {"mean_length": 30.0 + noise[5], "validation_loss": None if step % 3 else loss}
        rows.append(usual | facts)
    return rows
