"""The process that dry runs are forked from: it is apart, and has imported the libraries.

It is spoken to in lines of JSON. It says that it has its namespaces, is told its limits when they
were given users, and says that it is ready or why it refuses. Then each line that it is sent is an
order, which is answered by a line. When its input ends, so do it and all that it started.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, BinaryIO, Final

from failbench.crashes.dry_run import linux, walls
from failbench.crashes.dry_run.apart import run_apart
from failbench.crashes.dry_run.limits import Limits

INPUT: Final = 0
OUTPUT: Final = 1


def main() -> None:
    """Get apart, import the libraries, and obey until the input ends."""
    orders = os.fdopen(INPUT, "rb", closefd=False)
    try:
        linux.unshare(walls.APART)
        _say({"apart": True})
        told = json.loads(orders.readline())
        walls.forbid_namespaces()
    except (OSError, ValueError) as error:
        _say({"refused": str(error)})
        return
    child = os.fork()  # the first one in the new namespace of processes
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 1)
    linux.die_with_parent()
    _obey(orders, Limits(**told["limits"]), told["libraries"])


def _obey(orders: BinaryIO, limits: Limits, libraries: list[str]) -> None:
    try:
        walls.build_root()
        _import(libraries)
        walls.close_root()
        linux.hide_memory()
    except OSError as error:
        _say({"refused": str(error)})
        return
    _say({"ready": True})
    for order in orders:
        try:
            _say(run_apart(order.decode(), limits, INPUT))
        except OSError as error:
            _say({"refused": str(error)})


def _import(libraries: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in libraries:
            with suppress(ImportError):  # what needs it is then not rebuilt
                importlib.import_module(name)
    gc.freeze()


def _say(message: dict[str, Any]) -> None:
    os.write(OUTPUT, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
