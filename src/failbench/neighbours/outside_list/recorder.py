"""Recorder: runs every program in processes of its own, and keeps what the monitor measured."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from failbench.monitor import read_history
from failbench.monitor.log import LINES
from failbench.monitor.records.tables import Monitored, monitored_of, monitored_row, signal_rows
from failbench.neighbours.outside_list.bugs import STATES, Bug, State, run_id

CHILD: Final = "failbench.neighbours.outside_list.child"
LIMIT: Final = 600
"""Seconds after which a run is ended."""

ENVIRONMENT: Final = {
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def record(bugs: Iterable[Bug]) -> Monitored:
    """Run the programs of bugs and their healthy twins, one after another."""
    rows: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for bug in bugs:
        for state in STATES:
            with tempfile.TemporaryDirectory() as scratch:
                _execute(bug, state, Path(scratch))
                rows.extend(_measured(bug, state, Path(scratch)))
    return monitored_of(rows)


def _execute(bug: Bug, state: State, scratch: Path) -> None:
    ranks = bug.ranks or 0
    outputs = [scratch / f"{rank}.txt" for rank in range(ranks)]
    processes = []
    for rank, output in enumerate(outputs):
        command = [sys.executable, "-m", CHILD, bug.id, state, str(rank), str(ranks), str(scratch)]
        with output.open("w") as file:
            processes.append(
                subprocess.Popen(
                    command, stdout=file, stderr=file, env={**os.environ, **ENVIRONMENT}
                )
            )
    try:
        statuses = [process.wait(LIMIT) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for status, output in zip(statuses, outputs, strict=True):
        if status:
            raise RuntimeError(
                f"The {state} program of {bug.id} ended with status {status}: "
                f"{output.read_text(errors='replace')[-2000:]}"
            )


def _measured(
    bug: Bug, state: State, scratch: Path
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for rank in range(bug.ranks or 0):
        # A callback makes a folder for each process in the one that it is given.
        (lines,) = (scratch / str(rank)).rglob(LINES)
        history = read_history(lines.parent)
        of_run = {
            "run_id": run_id(bug, state, rank),
            "kind": "failure" if state == "faulty" else "twin",
            "scenario": bug.id,
            "seed": 0,
            "onset_step": bug.onset if state == "faulty" else None,
        }
        yield monitored_row(history, of_run), signal_rows(history)
