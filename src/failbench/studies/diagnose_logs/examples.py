"""Examples: recorded runs as logs, and the signs of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.signs import Sign, signs_of
from failbench.monitor.history import History
from failbench.monitor.invariants import Bound
from failbench.monitored.fitting import setting_of
from failbench.monitored.verdicts import RUNNING
from failbench.prediction.workers import parallel_map
from failbench.readers.log import Log
from failbench.readers.monitor_log import log_of_history
from failbench.rendering.formats import FORMATS
from failbench.rendering.normal import rendered_log
from failbench.rendering.run import logged_run
from failbench.rendering.shape import complete_shape, draw_shape
from failbench.studies.diagnose_logs.schemas import COMPLETE, MONITOR, MONITOR_LOGIC
from failbench.telemetry import Telemetry

COMPLETE_FORMAT: Final = "key_equals"


@dataclass(frozen=True)
class LogExample:
    """One log of a run whose cause is known."""

    run_id: str
    kind: str
    setting: str
    seed: int
    scenario: str
    category: str | None
    cause: str | None
    format: str
    present: tuple[str, ...]
    events: bool
    signs: tuple[Sign, ...]


def rendered_examples(
    telemetry: Telemetry, formats_per_run: int, seed: int, workers: int
) -> list[LogExample]:
    """Render runs and take the signs of what is read back."""
    steps = {
        key: part for (key,), part in telemetry.steps.partition_by("run_id", as_dict=True).items()
    }
    runs = list(telemetry.runs.iter_rows(named=True))
    empty = telemetry.steps.head(0)
    blocks = [runs[start :: workers * 4] for start in range(workers * 4)]
    arguments = (
        ([(run, steps.get(run["run_id"], empty)) for run in block], formats_per_run, seed)
        for block in blocks
    )
    parts = parallel_map(_rendered, arguments, workers)
    return sorted((each for part in parts for each in part), key=lambda each: each.run_id)


def _rendered(
    runs: Sequence[tuple[Mapping[str, Any], pl.DataFrame]], formats_per_run: int, seed: int
) -> list[LogExample]:
    examples = []
    for run, steps in runs:
        rng = np.random.default_rng([seed, *run["run_id"].encode()])
        last = run["failure_step"] if run["kind"] == "failure" else None
        logged = logged_run(run, steps, last)
        for place in sorted(rng.choice(len(FORMATS), formats_per_run, replace=False)):
            shape = draw_shape(FORMATS[place], rng)
            log = rendered_log(logged, FORMATS[place], shape, rng)
            examples.append(example_of(run, FORMATS[place], log, {}))
        shape = complete_shape(COMPLETE_FORMAT)
        log = rendered_log(logged, COMPLETE_FORMAT, shape, rng)
        examples.append(example_of(run, COMPLETE, log, {}))
    return examples


def example_of(
    run: Mapping[str, Any], format_name: str, log: Log, fitted: Mapping[str, Bound]
) -> LogExample:
    """A log with its signs."""
    is_failure = run["kind"] == "failure"
    scenario = run["scenario"] or run["run_id"]
    cause = cause_of_scenario()[scenario] if is_failure else None
    return LogExample(
        run["run_id"],
        run["kind"],
        setting_of(run),
        run["seed"],
        scenario,
        None if cause is None else causes()[cause].category,
        cause,
        format_name,
        log.present,
        any(event.kind != "warning" for event in log.events),
        signs_of(log, fitted),
    )


def monitored_examples(
    histories: Iterable[tuple[Mapping[str, Any], History]],
    failure_steps: Mapping[str, int | None],
    bounds: Mapping[str, Mapping[str, Bound]],
) -> list[LogExample]:
    """The monitor's logs of runs, cut at the failure, with bounds of the setting and without."""
    examples = []
    for run, history in histories:
        cut = at_failure(history, failure_steps.get(run["run_id"]))
        log = log_of_history(run["run_id"], cut)
        own = bounds.get(setting_of(run), {})
        examples.append(example_of(run, MONITOR, log, own))
        examples.append(example_of(run, MONITOR_LOGIC, log, {}))
    return examples


def at_failure(history: History, failure_step: int | None) -> History:
    """What a monitor's log held when the run failed."""
    if failure_step is None:
        return history
    rows = tuple(row for row in history.rows if row.step <= failure_step)
    end = history.end if history.end.failed else RUNNING
    return replace(history, rows=rows, end=end)
