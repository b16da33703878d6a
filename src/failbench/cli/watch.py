"""Commands that run a training of the user's."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.monitor.log import LINES

RUNNER = "failbench.monitor.integrations.unchanged"


def watch(
    folder: Annotated[Path, Parameter(help="where the monitor's log goes")],
    program: Annotated[Path, Parameter(help="a training script, which needs no change")],
    /,
    *arguments: Annotated[str, Parameter(help="of the script", allow_leading_hyphen=True)],
) -> int:
    """Run a training script with the monitor attached to whatever it trains.

    Trainers of Transformers and Lightning get their callback; in other loops of PyTorch the first
    model that an optimizer trains is watched. Only this process is: of several ranks, none.
    `failbench diagnose FOLDER/loop`, or `FOLDER/trainer`, says what broke.
    """
    if not program.is_file():
        raise BadInputError(program, "(file)", "is no file.", "Name a script of Python.")
    for log in folder.glob(f"*/{LINES}"):
        problem = "is the log of another run, which is never overwritten."
        raise BadInputError(log, "(log)", problem, "Name another folder.")
    if find_spec("torch") is None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    # a process of its own: its exit status and its traceback are the script's
    command = [sys.executable, "-m", RUNNER, str(folder), str(program), *arguments]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606
