"""Made-up runs, and what a tool says of them."""

from __future__ import annotations

import polars as pl

from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.peers.schemas import DOCUMENTED, RUN_SCHEMA, SAID_SCHEMA
from failbench.vocabulary import CATEGORIES

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
)
SCENARIOS = {f"{category}_{number}": category for category in CATEGORIES for number in range(3)}


def made_up_runs():
    rows = []
    for scenario, category in SCENARIOS.items():
        of_run = {"scenario": scenario, "category": category, "failure_step": 200}
        for seed in (0, 1):
            name = f"{scenario}-s{seed}"
            failing = {"kind": "failure", "onset_step": 100, "ends_itself": category == "unknown"}
            rows.append(of_run | failing | {"run_id": name, "seed": seed})
            twin = {"kind": "twin", "ends_itself": False}
            rows.append(of_run | twin | {"run_id": f"{name}-twin", "seed": seed})
    success = {"kind": "success", "seed": 0, "ends_itself": False}
    rows += [success | {"run_id": f"success-{number}"} for number in range(4)]
    return pl.DataFrame(rows, schema=RUN_SCHEMA)


RUNS = made_up_runs()


def said(detected, prediction="abstain", step=150, choice=DOCUMENTED, method="umlaut"):
    """What a method says of every run: each a function of a run, or the same of all."""

    def of(value, run):
        return value(run) if callable(value) else value

    rows = []
    for run in RUNS.to_dicts():
        alarmed = of(detected, run)
        rows.append(
            {
                "method": method,
                "choice": choice,
                "repeat": 0,
                "run_id": run["run_id"],
                "detected": alarmed,
                "step": of(step, run) if alarmed else None,
                "prediction": of(prediction, run),
                "conditions": 4.0,
            }
        )
    return pl.DataFrame(rows, schema=SAID_SCHEMA)


def is_failing(run):
    return run["kind"] == "failure"


def folds():
    rows = [(0, number % 3, name) for number, name in enumerate(SCENARIOS)]
    return pl.DataFrame(rows, schema=SPLIT_SCHEMA, orient="row")
