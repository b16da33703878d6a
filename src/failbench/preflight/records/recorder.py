"""Recorder: what a preflight says of every scenario and its twin, in runs that are trained again.

It looks at the first step, the onset and a step that crashes; a twin is the program before the
fault is switched on, else a run of one step. Healthy runs show what memory estimates are worth.
"""

import hashlib
import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

import failbench.preflight
from failbench.base.replay import Replay
from failbench.preflight.records.answers import ANSWER_SCHEMA, ANSWER_TABLE, Look
from failbench.preflight.records.child import LookedAtError, TrainingWithLooks
from failbench.recording.campaign import Campaign
from failbench.recording.fingerprint import code_hash
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import PlannedRun
from failbench.recording.sandbox import RecorderError, execute, fork_server
from failbench.recording.signals import compared_steps

SEED: Final = 0  # of the runs that are looked at
CRASHES: Final = ("exception", "signal")  # endings of runs whose last step is looked at
# a run that says nothing for so long has hung: a step with a preflight takes its time
LOOK_SECONDS: Final = 300.0
RUN_SECONDS: Final = 3600.0  # a run that trains for longer is an error of the recorder

# a row where nothing is said
EMPTY: Final[Mapping[str, Any]] = {
    name: [] if isinstance(kind, pl.List) else None for name, kind in ANSWER_SCHEMA.items()
}

PRELOADED: Final = ("failbench.preflight.records.child",)


@dataclass(frozen=True)
class Unit:
    """A run that is looked at."""

    planned: PlannedRun
    entry: JournalEntry
    limit: int | None
    looks: Mapping[int, tuple[Look, ...]]
    twin: PlannedRun | None = None


@cache
def preflight_code() -> str:
    """Hash of what a preflight does and says, less the margin, which is measured in its runs."""
    folder = Path(failbench.preflight.__path__[0])
    files = (path for path in sorted((folder / "data").iterdir()) if path.name != "margin.json")
    data = "".join(path.read_text("utf-8") for path in files)
    return hashlib.sha256((code_hash(sorted(folder.glob("*.py"))) + data).encode()).hexdigest()


def looks_of(failure: Mapping[str, Any]) -> dict[int, tuple[Look, ...]]:
    """The steps of a failing run, and of its twin, that are looked at."""
    looks: dict[int, tuple[Look, ...]] = {0: ("start",)}
    wanted: list[tuple[int, Look]] = [(failure["onset_step"], "onset")]
    if failure["ending"] in CRASHES:
        wanted.append((failure["failure_step"], "failure"))
    for step, look in wanted:
        looks[step] = (*looks.get(step, ()), look)
    return looks


def record(campaign: Campaign, path: Path, show: Callable[[int, int], None]) -> None:
    """Record what preflights say of the runs of a campaign: what is missing, one run at a time."""
    units = [*_units(campaign)]
    names = {each.run_id for unit in units for each in (unit.planned, unit.twin) if each}
    with Replay(ANSWER_TABLE, path) as replay:
        replay.drop_strangers(lambda row: row["run_id"] in names)
        due = [
            unit
            for unit in units
            if not replay.has((unit.planned.run_id,), [(_fingerprint(unit),)])
        ]
        context = fork_server(PRELOADED)
        done = len(units) - len(due)
        show(done, len(units))
        for number, unit in enumerate(due, start=done + 1):
            if campaign.stop.is_set():
                break
            replay.keep(_rows(unit, campaign, context))
            show(number, len(units))


def _units(campaign: Campaign) -> Iterator[Unit]:
    for planned in campaign.successes:
        entry = campaign.keep(planned)
        if entry is not None:
            yield Unit(planned, entry, None, {0: ("start",)})
    for drawn, twin, failure in campaign.recorded_pairs():
        if drawn.failure.seed != SEED:
            continue
        limit, looks = twin.run["capacity_bytes"], looks_of(failure.run)
        if drawn.failure.onset_step:
            yield Unit(drawn.failure, failure, limit, looks, drawn.twin)
        else:
            yield Unit(drawn.failure, failure, limit, looks)
            yield Unit(drawn.twin, twin, limit, {0: ("start", "onset")})


def _fingerprint(unit: Unit) -> str:
    text = f"{unit.entry.run['fingerprint']} {preflight_code()} {dict(unit.looks)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(unit: Unit, campaign: Campaign, context: Any) -> list[dict[str, Any]]:
    order = campaign.order(unit.planned, unit.limit)
    crashes = "failure" in unit.looks[max(unit.looks)]
    healthy_step = None if unit.twin is None else unit.planned.onset_step  # where it is looked at
    with tempfile.TemporaryDirectory(prefix="failbench-looks-") as folder:
        path = Path(folder, "looks.jsonl")
        looks = TrainingWithLooks(tuple(unit.looks), healthy_step, crashes, str(path))
        report = execute(context, order, LOOK_SECONDS, RUN_SECONDS, looks)
        if report.ending == "timeout" and unit.entry.run["ending"] != "timeout":
            raise RecorderError(
                f"{unit.planned.run_id}: nothing came of it for {LOOK_SECONDS:g} seconds. "
                "Record on an idle machine."
            )
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
    said = {(line["step"], line["healthy"]): line for line in map(json.loads, lines)}
    whole = max(0, min(len(report.steps), len(unit.entry.steps)) - 1)  # the last may be cut off
    compared, equal = compared_steps(unit.entry.steps[:whole], report.steps[:whole])
    times = [row["step_seconds"] for row in report.steps if row["loss"] is not None]
    usual = statistics.median(times) if times else None
    of_run: dict[str, Any] = {"step_seconds": usual, "compared_steps": compared, "equal": equal}
    of_run["fingerprint"] = _fingerprint(unit)
    raised = report.error.get("error_type", "")
    error_type = None if not raised or raised.endswith(LookedAtError.__name__) else raised

    def row(run_id: str, look: Look, step: int, *, healthy: bool = False) -> dict[str, Any]:
        answer = said.get((step, healthy), {})
        key = {"run_id": run_id, "look": look, "step": step, "reached": bool(answer)}
        known = {name: answer.get(name, empty) for name, empty in EMPTY.items()}
        return known | of_run | key

    rows = [
        row(unit.planned.run_id, look, step) | {"error_type": error_type}
        for step, looks_at in unit.looks.items()
        for look in looks_at
    ]
    if unit.twin is not None and healthy_step is not None:
        rows.append(row(unit.twin.run_id, "start", 0))
        rows.append(row(unit.twin.run_id, "onset", healthy_step, healthy=True))
    return rows
