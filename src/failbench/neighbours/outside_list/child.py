"""The process of one rank of one program; see :mod:`failbench.neighbours.outside_list.recorder`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import torch
from torch import distributed

from failbench.neighbours.outside_list.material import Program, Run

MODULES: Final = ("library_bugs", "loop_bugs", "rank_bugs")
"""Modules of this package that have programs."""

SEED: Final = 0


def programs() -> dict[str, Program]:
    """All programs by bug; the libraries that they use are imported."""
    known: dict[str, Program] = {}
    for module in MODULES:
        known |= import_module(f"failbench.neighbours.outside_list.{module}").PROGRAMS
    return known


def main(bug: str, state: str, rank: int, ranks: int, scratch: Path) -> None:
    """Run the program of a bug, faulty or healthy, as one of so many ranks.

    The folder is that of the run: the rank's log is the folder ``<rank>`` in it.
    """
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
