from collections.abc import Mapping
from typing import Any

from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.tables import monitored_of, monitored_row, signal_rows
from failbench.neighbours.outside_list.bugs import STATES, Bug, run_ids

Series = Mapping[int, Mapping[str, float]]

LEFT = {"gradients_left": 0.0}


def bug_of(name: str = "library-1", **changes: Any) -> Bug:
    """A bug of the software, with one rank and its fault from step 20 on."""
    fields: dict[str, Any] = {"id": name, "published": "Library issue 1", "title": "It is wrong"}
    fields |= {"root_cause": "Something is not as it was meant.", "component": "model_software"}
    fields |= {"reason": "5", "ranks": 1, "onset": 20, "traincheck": "not detected"}
    return Bug.model_validate(fields | {"deviations": "none", "left_out": ""} | changes)


def recorded_bugs(bugs, measured, level="full"):
    """What was measured of bugs; what is not given of a run is healthy."""
    rows = []
    for name in (name for bug in bugs for state in STATES for name in run_ids(bug, state)):
        steps = {step: dict(LEFT) for step in range(0, 60, 10)}
        for step, values in measured.get(name, {}).items():
            steps.setdefault(step, {}).update(values)
        ordered = tuple(Row(step, steps[step]) for step in sorted(steps))
        history = History(level, 10, {}, {}, ordered, End("completed", "callback", 59))
        row = monitored_row(history, {"run_id": name, "kind": "twin"})
        rows.append((row, signal_rows(history)))
    return monitored_of(rows)
