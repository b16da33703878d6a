"""Monitored: what the monitor saw of the programs of the field, which say nothing of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from failbench.field.programs import Part, Program
from failbench.field.recorder import Recording, Run
from failbench.monitor.history import History, read_history
from failbench.monitor.integrations.logs import log_of
from failbench.monitor.records.tables import (
    monitored_of,
    monitored_row,
    signal_rows,
    write_monitored,
)

MONITORED: Final = "monitored"
WITHOUT_TORCH: Final = ("jax", "keras")  # libraries whose trainings have no optimizer of PyTorch
SETTING: Final = "programs"


def watchable(runs: Sequence[tuple[Program, Run]]) -> list[tuple[Program, Run]]:
    """Runs of programs that train by PyTorch."""
    return [each for each in runs if each[0].card.library not in WITHOUT_TORCH]


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
    """Of the runs that have a log: one that ends before anything is trained may have none."""
    for program, run in runs:
        log = log_of(recording.log(program, run))
        if log is None:
            continue
        history = read_history(log)
        if recording.ended(program, run).how == "timeout":  # it was killed because it hung
            history = replace(history, end=replace(history.end, kind="hung"))
        if run == "run" or history.rows:
            yield program, run, history


def _row(program: Program, run: Run, history: History) -> dict[str, Any]:
    is_healthy = run != "run" or program.card.kind == "oddity"
    kind = "success" if program.card.kind == "oddity" else "twin" if is_healthy else "failure"
    of_run = {
        "run_id": f"{program.name} {run}", "kind": kind, "scenario": program.name,
        "architecture": program.card.library, "optimizer": "any", "scale": "field",
        "seed": int(run == "other_seed"), "onset_step": None if is_healthy else 0,
        "fingerprint": program.fingerprint,
    }  # fmt: skip
    return monitored_row(history, of_run)
