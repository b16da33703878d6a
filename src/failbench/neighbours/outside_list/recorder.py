"""Recorder: runs every program in processes of its own, and keeps what the monitor measured.

As a command it is the process of one rank of one program.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from failbench.monitor import read_history
from failbench.monitor.log import LINES
from failbench.monitor.records.tables import Monitored, monitored_of, monitored_row, signal_rows
from failbench.neighbours.outside_list.bugs import STATES, Bug, State, run_id

if TYPE_CHECKING:
    from failbench.neighbours.outside_list.material import Program

PACKAGE: Final = "failbench.neighbours.outside_list"
MODULES: Final = ("library_bugs", "loop_bugs")
"""Modules of this package that have programs."""
SEED: Final = 0
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
    ranks, environment = bug.ranks or 0, {**os.environ, **ENVIRONMENT}
    outputs = [scratch / f"{rank}.txt" for rank in range(ranks)]
    module, processes = f"{PACKAGE}.recorder", []
    for rank, output in enumerate(outputs):
        of_rank = (bug.id, state, str(rank), str(ranks), str(scratch))
        command = [sys.executable, "-m", module, *of_rank]
        with output.open("w") as file:
            processes.append(subprocess.Popen(command, stdout=file, stderr=file, env=environment))
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


def programs() -> dict[str, Program]:
    """All programs by bug; the libraries that they use are imported."""
    known: dict[str, Program] = {}
    for module in MODULES:
        known |= import_module(f"{PACKAGE}.{module}").PROGRAMS
    return known


def main(bug: str, state: str, rank: int, ranks: int, scratch: Path) -> None:
    """Run the program of a bug, faulty or healthy, as one of so many ranks.

    The folder is that of the run: the rank's log is the folder ``<rank>`` in it.
    """
    import torch
    from torch import distributed

    from failbench.neighbours.outside_list.material import Run

    torch.set_num_threads(1)
    if ranks > 1:
        # What libraries ask for to see that there are several processes.
        ids = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
        os.environ |= ids | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
        store = f"file://{scratch}/store"
        distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks)
    torch.manual_seed(SEED)
    programs()[bug](Run(state == "faulty", rank, scratch / str(rank), scratch))
    if ranks > 1:
        distributed.barrier()
        distributed.destroy_process_group()


if __name__ == "__main__":
    bug, state, rank, ranks, scratch = sys.argv[1:]
    main(bug, state, int(rank), int(ranks), Path(scratch))
