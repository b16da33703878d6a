"""The process that kernels are forked from, by JSON on standard input, until that ends."""

import datetime
import gc
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
from contextlib import suppress
from typing import Any

IMPORTED = (
    *("ipykernel.kernelapp", "numpy", "pandas", "sklearn.ensemble", "sklearn.linear_model"),
    *("matplotlib.pyplot", "lightgbm", "torch"),
)


def main() -> None:
    """Import the libraries, and obey until the input ends."""
    for name in IMPORTED:
        with suppress(ImportError):  # a notebook that needs it says so itself
            importlib.import_module(name)
    gc.freeze()
    kernel = 0
    for line in sys.stdin:
        kernel = _stopped(kernel)
        order = json.loads(line)
        if order:
            kernel = _started(order)
        sys.stdout.write(f"{kernel}\n")
        sys.stdout.flush()
    _stopped(kernel)


def _started(order: dict[str, Any]) -> int:
    """Fork a kernel; its process id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a descriptor is wanted
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        os.environ.update(order["environment"])
        tempfile.tempdir = None
        os.chdir(order["folder"])
        resource.setrlimit(resource.RLIMIT_AS, (order["memory"], order["memory"]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _place_in_world(order)
        from ipykernel.kernelapp import launch_new_instance

        launch_new_instance(argv=["-f", order["connection"], "--InteractiveShell.xmode=Plain"])
    finally:
        os._exit(0)


def _place_in_world(order: dict[str, Any]) -> None:
    """Let the global generators begin, and the clock run from, where a world says."""
    if order.get("seed") is not None:
        random.seed(order["seed"])
        sys.modules["numpy"].random.seed(order["seed"])
        sys.modules["torch"].manual_seed(order["seed"])
    if order.get("today"):
        import time_machine

        os.environ["TZ"] = "UTC"
        now = datetime.datetime.fromisoformat(order["today"]).replace(tzinfo=datetime.UTC)
        time_machine.travel(now, tick=True).start()


def _stopped(kernel: int) -> int:
    """Kill a kernel and all that it started; 0."""
    if kernel:
        with suppress(ProcessLookupError):
            os.killpg(kernel, signal.SIGKILL)
        os.waitpid(kernel, 0)
    return 0


if __name__ == "__main__":
    main()
