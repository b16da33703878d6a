"""Warm: a process that has imported libraries, and forks a child for each program it is told of.

It is run by itself, by the Python whose libraries the programs use, and imports nothing of this
package but the monitor, where a job asks for it: jobs come as lines of JSON on standard input, and
each answer is one on standard output.
"""

import contextlib
import importlib
import importlib.abc
import io
import json
import os
import resource
import select
import signal
import sys
import time
import types
from pathlib import Path
from typing import Any, NoReturn, cast

PROGRAM = "program.py"
MEMORY = 8 << 30  # bytes of a process, beyond which it is the machine that is in danger


class _Operators(importlib.abc.MetaPathFinder):
    """Defines what torchvision's Python needs where its compiled part is of another torch."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            for operator in ("nms", "qnms"):
                with contextlib.suppress(RuntimeError):
                    torch.library.define(
                        f"torchvision::{operator}", "(Tensor a, Tensor b, float c) -> Tensor"
                    )


def main(preloaded: list[str]) -> None:
    """Import modules, or attributes as ``module:name``, and run what is told."""
    sys.meta_path.insert(0, _Operators())
    for name in preloaded:
        module, _, attribute = name.partition(":")
        with contextlib.suppress(ModuleNotFoundError):  # a program that needs it says so itself
            found = importlib.import_module(module)
            if attribute:
                getattr(found, attribute)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
        answers.flush()


def run(job: dict[str, Any]) -> dict[str, float | None]:
    """Run a program in a child; how it ended, and after how many seconds."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        become(job)
    opened = os.pidfd_open(child)
    ended = bool(select.select([opened], [], [], job["seconds"])[0])
    os.close(opened)
    seconds = round(time.monotonic() - started, 2)
    with contextlib.suppress(ProcessLookupError):  # the child is not waited for yet: it is a zombie
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"code": code if ended else None, "seconds": seconds}


def become(job: dict[str, Any]) -> NoReturn:
    """Turn this child into the program, as ``python program.py`` would run it."""
    os.setsid()
    os.chdir(job["folder"])
    console = os.open(job["console"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (console, 1), (console, 2)):
        os.dup2(source, target)
    cast("io.TextIOWrapper", sys.stdout).reconfigure(write_through=True)
    os.environ.update(job["environment"])
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.RLIM_INFINITY))
    path = str(Path(job["folder"], PROGRAM))
    sys.argv = [PROGRAM, *job["arguments"]]
    sys.path[0] = job["folder"]
    sys.path.insert(1, job["helpers"])
    if job.get("monitor"):
        _monitor(**job["monitor"])
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)  # noqa: S102
    except SystemExit:
        raise
    except BaseException as error:
        _forget_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
    sys.exit(0)


def _monitor(package: str, log: str) -> None:
    """Monitor what the program trains, by the package that lies in a folder."""
    sys.path.append(package)
    importlib.import_module("failbench.monitor.integrations.unchanged").attach(log)


def _forget_frames(error: BaseException | None) -> None:
    """Leave this module's frames out of an error and of those that it followed."""
    while error is not None:
        inner = error.__traceback__
        while inner is not None and inner.tb_frame.f_code.co_filename == __file__:
            inner = inner.tb_next
        error.__traceback__ = inner
        error = error.__cause__ or error.__context__


if __name__ == "__main__":
    main(sys.argv[1:])
