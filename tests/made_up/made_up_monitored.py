from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from failbench.monitor.end import End
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.tables import Monitored, monitored_of, monitored_row, signal_rows
from failbench.monitor.records.verdicts import break_table, ends_of, known_course
from failbench.monitor.records.versions import CURRENT, PROCEDURES, Rules
from failbench.prediction.known import Known

SETTING = {"architecture": "gru", "optimizer": "sgd", "scale": "small"}
COMPLETED = End("completed", "callback", 59)
CALM = {
    "blocked_data": 0.1, "labels_outside": 0.0, "gradient_norm": 1.0, "loss_ratio": 1.0,
    "learning_rate": 0.01,
}  # fmt: skip
"""Signals of a healthy run, at every step."""

INVARIANTS = tuple(
    replace(each, kind="statistic", rows=3, window=20, past_of_checks=False)
    if each.id == "reads_not_blocked"
    else each
    for each in CATALOGUE
)
"""Those of the package, but for one: what a test expects of a statistic is no version's matter."""

BOUNDS = {"reads_not_blocked": Bound(float("-inf"), 1.0)}


def rules(bounds: Mapping[str, Mapping[str, Bound]] | None = None) -> Rules:
    of_settings = {"gru-sgd": BOUNDS} if bounds is None else bounds
    return Rules("now", INVARIANTS, ENDINGS, PROCEDURES[CURRENT], of_settings)


def history(end: End = COMPLETED, steps: int = 60, **changes: Mapping[int, float]) -> History:
    """A calm history in which signals change, each to a value from a step on."""
    rows = []
    for step in range(steps):
        values = dict(CALM)
        for signal, levels in changes.items():
            reached = [value for start, value in levels.items() if start <= step]
            if reached:
                values[signal] = reached[-1]
        rows.append(Row(step, values))
    return History("standard", 10, {}, {}, tuple(rows), end)


def monitored(runs: Sequence[tuple[Mapping[str, Any], History]]) -> Monitored:
    return monitored_of(
        [
            (
                monitored_row(each, {"kind": "failure", "seed": 0, **SETTING, **key}),
                signal_rows(each),
            )
            for key, each in runs
        ]
    )


def judged(table, lenders=(), used=None):
    """What broke in monitored runs, all of which failed at step 59, how they ended, and rules."""
    used = used or rules()
    detected = table.runs.select("run_id", failure_step=pl.lit(59, pl.Int32))
    return break_table(table, used, lenders), ends_of(table.runs, detected), used


def sign(category: str | None, onset: int = 30) -> History:
    """What is seen of a cause of a component; waiting alone is bounded by healthy runs."""
    crash = End("exception", "forward", 59, "RuntimeError", "shapes")
    end, signals = {
        "data_pipeline": (crash, {"labels_outside": {onset: 1.0}}),
        "model_software": (crash, {"loss_ratio": {onset: 3.0}}),
        "optimization": (COMPLETED, {"learning_rate": {onset: 0.0}}),
        "unknown": (COMPLETED, {"blocked_data": {onset: 9.0}}),
        "memory_hardware": (End("out of memory", "forward", 59), {}),
        None: (COMPLETED, {}),
    }[category]
    return history(end, **signals)


def made_up_known(runs, bounded, lenders=(), onset=30):
    """What a monitor knew of runs of ``bounded`` settings, and of others by ``lenders``."""
    keys = runs.select("run_id", "architecture", "optimizer", "scale").to_dicts()
    signs = [sign(category, onset) for category in runs["category"]]
    table = monitored(list(zip(keys, signs, strict=True)))
    used = rules(dict.fromkeys(bounded, BOUNDS))
    return Known(known_course(*judged(table, lenders, used), lenders))
