"""Dry runs as a predictor: the target is executed on objects that the runtime summary tells of."""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from failbench.crashes.answers import asked
from failbench.crashes.dry_run.answer import read_answer
from failbench.crashes.dry_run.limits import NOTEBOOK
from failbench.crashes.dry_run.sandbox import LIBRARIES, Sandbox, open_sandbox
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.errors import BadInputError

DRAWS: Final = 3
"""How often values are drawn for a crash to be foreseen: an error in one draw may be made up."""

FOLDER: Final = Path(__file__).parent

DISTRIBUTIONS: Final = (
    "numpy",
    "pandas",
    "scikit-learn",
    "matplotlib",
    "lightgbm",
    "torch",
    "polars",
)


def predict(question: Question) -> CrashPrediction:
    """Whether the target raises on objects that are rebuilt from the summary, in a sandbox.

    Nothing of the notebook is executed in this process. The sandbox is started at the first
    question and ends with this process.

    Returns
    -------
    CrashPrediction
        An abstention, with the reason, if the target asks for what cannot be rebuilt, or for files
        or processes, or reaches a limit.

    Raises
    ------
    BadInputError
        If the system does not grant every wall of the sandbox: nothing is run without one.
    """
    order = order_of(question)
    answer = _answer(order)
    for place in range(1, DRAWS):
        if not answer.crash:
            break
        again = _answer(order | {"seed": order["seed"] + place})
        if again.crash is False:
            return again
    return answer


def _answer(order: dict[str, Any]) -> CrashPrediction:
    started = _sandbox(os.getpid())
    try:
        outcome = started.run(order)
    except BadInputError:
        _sandbox.cache_clear()
        started.close()
        raise
    return read_answer(outcome, NOTEBOOK)


def maker() -> str:
    """What answers: a hash of this package's code and data, and the versions of what it runs."""
    files = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".csv", ".txt"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    versions = " ".join(f"{name} {version(name)}" for name in DISTRIBUTIONS)
    return f"dry_run {code[:16]}, python {platform.python_version()}, {versions}"


def order_of(question: Question) -> dict[str, Any]:
    """A question as the sandbox is told; the seed of what it draws follows from the question."""
    return {
        "executed": question.executed,
        "target": question.target,
        "summary": None if question.summary is None else asdict(question.summary),
        "seed": int(asked(question)[:12], 16),
    }


@cache
def _sandbox(process: int) -> Sandbox:  # noqa: ARG001 - the key of the cache
    """The sandbox of a process: one that was forked shares none with its parent."""
    started = open_sandbox(NOTEBOOK, LIBRARIES)
    atexit.register(started.close)
    return started
