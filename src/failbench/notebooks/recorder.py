"""Executes pairs in live kernels and keeps what was observed; see ``docs/notebooks.md``."""

import json
import platform
import time
from collections.abc import Callable, Collection, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from failbench.base.errors import BadInputError
from failbench.base.replay import Replay
from failbench.notebooks import corpus
from failbench.notebooks.equal import EqualPair
from failbench.notebooks.kernel import Failure, Forge, OutOfTimeError, forge
from failbench.notebooks.relevant import relevant_names

LIMIT: Final = 120.0  # seconds of a cell; most take less than one, and imports of libraries some
MEMORY: Final = 8 * 2**30  # bytes: enough for every library, too little for mistakes
MESSAGE: Final = 2_000  # characters that are kept of a message

LIBRARIES: Final = (
    "numpy", "pandas", "scikit-learn", "matplotlib", "lightgbm", "torch", "scipy", "ipykernel",
)  # fmt: skip


def record(
    pairs: Sequence[corpus.Pair] | Sequence[EqualPair],
    folder: Path,
    cache: Path,
    say: Callable[[str], None],
    only: Collection[str] = (),
) -> int:
    """Record each pair whose notebook, code of the summary or versions are not those of today."""
    path = folder / corpus.OBSERVED
    used = (*LIBRARIES, "polars") if isinstance(pairs[0], EqualPair) else LIBRARIES
    known = {"python": platform.python_version()} | {name: version(name) for name in used}
    versions, code = json.dumps(known, sort_keys=True), corpus.code_of_summary()
    names = {pair.card.pair for pair in pairs}
    if path.exists():
        corpus.read_observed(path)
    with Replay(corpus.OBSERVED_TABLE, path) as replay:
        replay.drop_strangers(lambda row: row["pair"] in names)
        due = [
            pair
            for pair in pairs
            if pair.card.pair in only
            or not (only or replay.has((pair.card.pair,), _made(pair, code, versions)))
        ]
        if not due:
            return 0
        with forge(LIMIT, MEMORY, cache) as kernels:
            for pair in due:
                say(pair.card.pair)
                made = {"versions": versions, "recorder": code}
                replay.keep([_observe(each, kernels) | made for each in pair.executions])
    return len(due)


def _made(pair: corpus.Pair | EqualPair, code: str, versions: str) -> list[tuple[str, str, str]]:
    return [(execution.sha256, code, versions) for execution in pair.executions]


def _observe(execution: corpus.Execution[Any], kernels: Forge) -> dict[str, Any]:
    """Execute one notebook of a pair, and hold what it did against what it should do."""
    notebook, version = execution.notebook, execution.version
    card, path = notebook.card, notebook.path
    try:
        with kernels.kernel(execution.world, version) as kernel:
            begin = time.perf_counter()
            for index in notebook.executed:
                failure = kernel.execute(notebook.cells[index].source)
                if failure is not None:
                    problem = f"raises {failure.name} ({failure.message}), before the target."
                    remedy = "Mend the cell: only the target may crash."
                    raise BadInputError(path, f"cells.{index}", problem, remedy)
            before = time.perf_counter() - begin
            relevant = relevant_names(notebook.executed_sources, notebook.target)
            seen = kernel.summary(relevant.names, relevant.attributes)
            begin = time.perf_counter()
            failure = kernel.execute(notebook.target)
            seconds = time.perf_counter() - begin
            last = kernel.count
    except OutOfTimeError as error:
        raise BadInputError(path, "cells", f"{error}.", "Shorten what it computes.") from error
    if (failure is not None) != (version == "crashing"):
        did = "does not raise" if failure is None else f"raises {failure.name} ({failure.message})"
        problem = f"{did} in the {version} version."
        raise BadInputError(path, f"cells.{card.target}", problem, "Mend the notebook.")
    return {
        "pair": card.pair,
        "version": version,
        "library": card.library,
        "notebook_sha256": execution.sha256,
        "crash": failure is not None,
        **_of_crash(notebook, failure, last),
        "summary": seen,
        "seconds": round(seconds, 3),
        "seconds_before": round(before, 3),
    }


def _of_crash(
    notebook: corpus.Notebook[Any], failure: Failure | None, count: int
) -> dict[str, Any]:
    if failure is None:
        return dict.fromkeys(("ename", "evalue", "line", "source_line", "functions"))
    line = next(frame.line for frame in failure.frames if frame.count == count)
    functions = sum(frame.function is not None for frame in failure.frames)
    card = notebook.card
    if isinstance(card, corpus.Card) and functions != card.functions_between:
        problem = f"is {card.functions_between}, and the crash passed {functions}."
        field = "metadata.failbench.functions_between"
        raise BadInputError(notebook.path, field, problem, "Correct the card and its grade.")
    return {
        "ename": failure.name,
        "evalue": failure.message[:MESSAGE],
        "line": line,
        "source_line": notebook.target.splitlines()[line - 1].strip(),
        "functions": functions,
    }
