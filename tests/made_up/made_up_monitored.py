from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from failbench.monitor.end import End
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.tables import Monitored, monitored_of, monitored_row, signal_rows
from failbench.monitor.records.versions import CURRENT, PROCEDURES, Rules

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
