"""Monitored: what the monitor saw of the programs of the field, which say nothing of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from failbench.diagnose.known import KnownLog
from failbench.diagnose.readers.log import joined
from failbench.diagnose.readers.records import log_of_history
from failbench.field.corpus import Console, broken_programs, consoles
from failbench.field.programs import Part, Program
from failbench.field.recorder import Recording, Run
from failbench.monitor.history import History, read_history
from failbench.monitor.integrations.logs import log_of
from failbench.monitor.invariants import Bound
from failbench.monitor.records.tables import (
    histories,
    monitored_of,
    monitored_row,
    read_monitored,
    signal_rows,
    write_monitored,
)

MONITORED: Final = "monitored"
# corpora of logs: the monitor's alone, and with what was printed
MONITOR, BESIDE = "monitor", "console and monitor"
WITHOUT_TORCH: Final = ("jax", "keras")  # libraries whose trainings have no optimizer of PyTorch
SETTING: Final = "programs"


def watchable(runs: Sequence[tuple[Program, Run]]) -> list[tuple[Program, Run]]:
    """Runs of programs that train by PyTorch."""
    return [each for each in runs if each[0].card.library not in WITHOUT_TORCH]


def read_histories(data: Path, part: Part) -> dict[str, History]:
    """What the monitor saw of the runs of a part, by program and run; nothing where it saw none."""
    if not (data / part / MONITORED).exists():
        return {}
    recorded = read_monitored(data / part / MONITORED)
    return {run["run_id"]: history for run, history in histories(recorded)}


def known_monitored(
    data: Path, part: Part, bounds: Mapping[str, Mapping[str, Bound]]
) -> list[tuple[Console, History, KnownLog]]:
    """The monitor's logs of a part, alone and beside the console, with bounds for each author."""
    seen, found = read_histories(data, part), []
    for console in consoles(data, part):
        history = seen.get(f"{console.program.name} {console.run}")
        if history is None:
            continue
        alone = log_of_history(MONITOR, history)
        fitted = bounds[console.program.card.author]
        for corpus, log in ((MONITOR, alone), (BESIDE, joined((console.read(), alone)))):
            found.append((console, history, console.known(log, corpus, fitted)))
    return found


def healthy_histories(data: Path, part: Part) -> dict[str, list[History]]:
    """What the monitor saw of runs without a fault that completed, by author.

    Programs that are not as their cards say are left out, with their twins.
    """
    found: dict[str, list[History]] = {}
    broken = broken_programs(data, part)
    for run, history in histories(read_monitored(data / part / MONITORED)):
        if run["kind"] == "failure" or run["scenario"] in broken or not history.rows:
            continue
        if history.end.kind == "completed":
            found.setdefault(run["scenario"].partition("/")[0], []).append(history)
    return found


def publish(recording: Recording, part: Part, runs: Sequence[tuple[Program, Run]]) -> None:
    """Write what was measured of a part beside its programs."""
    rows = [
        (_row(program, run, history), signal_rows(history))
        for program, run, history in _histories(recording, runs)
    ]
    write_monitored(recording.data / part / MONITORED, SETTING, monitored_of(rows))


def _histories(
    recording: Recording, runs: Sequence[tuple[Program, Run]]
) -> Iterator[tuple[Program, Run, History]]:
    """Of the runs that have a log: one that ends before anything is trained may have none.

    One that was only too slow under the monitor is left out.
    """
    for program, run in runs:
        log, was_killed = log_of(recording.log(program, run)), False
        if recording.ended(program, run).how == "timeout":
            was_killed = run == "run" and program.card.ending.how == "timeout"
            log = log if was_killed else None
        if log is None:
            continue
        history = read_history(log)
        message = recording.neutral(history.end.message)
        history = replace(history, end=replace(history.end, message=message))
        if was_killed:  # because it hung
            history = replace(history, end=replace(history.end, kind="hung"))
        if history.rows or not _is_healthy(program, run):
            yield program, run, history


def _is_healthy(program: Program, run: Run) -> bool:
    return run != "run" or program.card.kind == "oddity"


def _row(program: Program, run: Run, history: History) -> dict[str, Any]:
    is_healthy = _is_healthy(program, run)
    kind = "success" if program.card.kind == "oddity" else "twin" if is_healthy else "failure"
    of_run = {
        "run_id": f"{program.name} {run}", "kind": kind, "scenario": program.name,
        "architecture": program.card.library, "optimizer": "any", "scale": "field",
        "seed": int(run == "other_seed"), "onset_step": None if is_healthy else 0,
        "fingerprint": program.fingerprint,
    }  # fmt: skip
    return monitored_row(history, of_run)
