"""Bugs of the outside list; as a command, this module is the process of one rank of a program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, get_args

from pydantic import Field, model_validator

from failbench.base.records import OrNone, Record, read_rows
from failbench.base.vocabulary import Category
from failbench.monitor import read_history
from failbench.monitor.log import LINES
from failbench.monitor.records.tables import Monitored, monitored_of, monitored_row, signal_rows

if TYPE_CHECKING:
    from failbench.neighbours.outside_list.material import Program

BUGS = "traincheck.csv"  # the file of the list in its folder
REMEDY = "Restore it with git."
State = Literal["faulty", "healthy"]
STATES: Final[tuple[State, ...]] = get_args(State)
SETTING: Final = "traincheck"  # under which measurements are stored
PACKAGE: Final = "failbench.neighbours.outside_list"
MODULES: Final = ("library_bugs", "loop_bugs")  # modules of this package that have programs
SEED: Final = 0
LIMIT: Final = 600  # seconds after which a run is ended

ENVIRONMENT: Final = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1"} | {
    "TOKENIZERS_PARALLELISM": "false"
}
Number = Annotated[Annotated[int, Field(ge=0)] | None, OrNone]


class Bug(Record):
    """A published bug; a row of ``data/outside/traincheck.csv``."""

    id: str = Field(min_length=1)
    published: str
    title: str
    root_cause: str
    component: Category
    reason: str
    ranks: Number
    onset: Number
    traincheck: str
    deviations: str
    left_out: str

    @model_validator(mode="after")
    def _is_recreated_or_left_out(self) -> Self:
        if len({bool(self.left_out), self.ranks is None, self.onset is None}) > 1:
            raise ValueError("ranks and onset are given exactly where it is not left out")
        return self

    @property
    def is_recreated(self) -> bool:
        """Whether there is a program of it."""
        return not self.left_out


def read_bugs(path: Path) -> tuple[Bug, ...]:
    """Read the list, in the order of its file."""
    return tuple(read_rows(path, Bug, REMEDY, ("id",)))


def run_id(bug: Bug, state: State, rank: int) -> str:
    """The name of a run of one rank."""
    return f"{bug.id}_{state}_{rank}"


def run_ids(bug: Bug, state: State) -> tuple[str, ...]:
    """The names of the runs of all ranks of a bug; none where it is not re-created."""
    return tuple(run_id(bug, state, rank) for rank in range(bug.ranks or 0))


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
    module, processes = f"{PACKAGE}.bugs", []
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
    """Run a bug's program, faulty or healthy, as a rank that logs in ``<rank>`` in the folder."""
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
