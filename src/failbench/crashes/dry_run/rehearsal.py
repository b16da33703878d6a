"""What happens inside the sandbox: objects are rebuilt, the target is executed, and it is told."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import sys
import warnings
from types import TracebackType
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run.known import Meaning, imported, meanings
from failbench.crashes.dry_run.namespace import Definitions, Namespace, UnknownNameError
from failbench.crashes.dry_run.needs import NotRebuiltError, allowed_modules
from failbench.crashes.dry_run.rebuild import Rebuilder
from failbench.notebooks.relevant import relevant_names

TARGET: Final = "<target>"
REASON: Final = 300
"""Characters of a message that are passed on."""

BY_CODE: Final = ("function", "class", "library")
"""Kinds of which the code says more than a summary."""

ORDER: Final = {"network": 2, "optimizer": 4}
"""Kinds that are rebuilt before what tells of their parts, or after what they belong to."""

STYLE: Final = re.compile(r"'[\w -]+' is not a valid package style")
"""Of a name that is no path, an error that only says that matplotlib has no such style."""

THREADS: Final = "can't start new thread"

Answer = dict[str, Any]


def rehearse(order: str, channel: int) -> None:
    """Carry out an order and write the answer, as JSON.

    Parameters
    ----------
    order
        JSON with ``executed``, ``target``, ``summary`` (None if nothing is told) and ``seed``.
    channel
        Descriptor that the answer is written to.
    """
    process = os.getpid()
    answer = answer_to(json.loads(order))
    if os.getpid() == process:  # and not a child that the cell forked
        os.write(channel, json.dumps(answer).encode())


def answer_to(order: dict[str, Any]) -> Answer:
    """Rebuild what the target needs, execute it, and say how it ended."""
    executed, target = order["executed"], order["target"]
    try:
        code = compile(target, TARGET, "exec", dont_inherit=True)
        others = sorted({name.partition(".")[0] for name in imported(target)} - allowed_modules())
    except SyntaxError as error:
        if any(line.lstrip()[:1] in ("%", "!") for line in target.splitlines()):
            return _abstention("The target holds commands that are not Python's.")
        return _crash(type(error).__name__, str(error), error.lineno)
    except (ValueError, RecursionError, MemoryError) as error:
        return _abstention(f"The target cannot be read: {type(error).__name__}.")
    if others:
        return _abstention(f"The target imports {others[0]}, which is not imported for a dry run.")
    namespace = prepare(executed, target, order["summary"], order["seed"])
    _sow(order["seed"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, namespace)  # noqa: S102 - this is the sandbox
    except BaseException as error:
        return _raised(error, namespace)
    if namespace.missed is not None:
        return _abstention(namespace.missed)
    return {"crash": False, "exception": None, "reason": "It ended.", "line": None}


def prepare(
    executed: list[str], target: str, summary: dict[str, Any] | None, seed: int
) -> Namespace:
    """The names that a target needs.

    A name that the summary was asked for and does not hold is not bound, unless the summary was
    cut. One that it was not asked for is what the code defines.
    """
    namespace = Namespace()
    known = meanings(executed)
    definitions = Definitions(known, namespace)
    told = {} if summary is None else summary["names"]
    rebuilder = Rebuilder(seed, known, definitions.define, told, namespace.miss_part)
    absent: set[str] = set()
    if summary is not None and not summary["truncated"]:
        absent = set(summary["relevant"]) - told.keys()
    for name in _in_order(_needed(executed, target), known, told):
        if name in absent:
            continue
        try:
            if name in told and not _is_by_code(name, told[name], known):
                namespace[name] = rebuilder.named(name)
            else:
                definitions.define(name)
        except NotRebuiltError as error:
            namespace.pop(name, None)
            namespace.unknown[name] = f"{error}."
    for name in absent:
        namespace.pop(name, None)
    namespace.missed = None  # by what was tried to make one
    return namespace


def _needed(executed: list[str], target: str) -> list[str]:
    readable = []
    for source in executed:
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        readable.append(source)
    return list(relevant_names(readable, target).names)


def _in_order(
    names: list[str], known: dict[str, Meaning], told: dict[str, dict[str, Any]]
) -> list[str]:
    """Imports, then definitions as they stand in the code, then objects, and last what has parts.

    A definition's place is that of its name in ``known``, which keeps the order of the code.
    """
    places = {name: place for place, name in enumerate(known)}

    def rank(name: str) -> tuple[int, int, str]:
        meaning = known.get(name, Meaning("other"))
        kind = told.get(name, {}).get("type", {}).get("kind")
        stage = {"import": 0, "definition": 1}.get(meaning.kind, ORDER.get(kind, 3))
        return stage, places.get(name, 0), name

    return sorted(names, key=rank)


def _is_by_code(name: str, entry: dict[str, Any], known: dict[str, Meaning]) -> bool:
    """Whether the code says what a name is, and the summary does not say that it is another."""
    meaning = known.get(name)
    if meaning is None or meaning.kind not in ("import", "definition"):
        return False
    return entry.get("type", {}).get("kind", BY_CODE[0]) in BY_CODE


def _sow(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - what a cell draws from
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _raised(error: BaseException, namespace: Namespace) -> Answer:
    if isinstance(error, NameError) and getattr(error, "name", None) in namespace.unknown:
        namespace.miss(str(error.name))
    if namespace.missed is not None or isinstance(error, UnknownNameError):
        return _abstention(namespace.missed or "A name is not known.")
    if _is_of_sandbox(error):
        problem = f"{type(error).__name__}, as a file or the machine was asked for"
        return _abstention(f"The sandbox may have caused what it raised: {problem}.")
    try:
        message = str(error).encode("utf-8", "replace").decode()
    except Exception as another:
        message = f"a message that raises {type(another).__name__}"
    return _crash(type(error).__name__, message, _line(error.__traceback__))


def _is_of_sandbox(error: BaseException) -> bool:
    """Whether an error, or one that it follows from, speaks of files, processes or the network."""
    if isinstance(error, OSError) and STYLE.match(str(error)):
        return False
    seen: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in seen:
        if isinstance(following, OSError) or THREADS in str(following.args):
            return True
        seen.append(following)
        following = following.__cause__ or following.__context__
    return False


def _line(traceback: TracebackType | None) -> int | None:
    """The line of the target that an error came through first."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == TARGET:
            return traceback.tb_lineno
        traceback = traceback.tb_next
    return None


def _crash(name: str, message: str, line: int | None) -> Answer:
    shown = message if len(message) <= REASON else message[: REASON - 1] + "…"
    return {"crash": True, "exception": name, "reason": shown, "line": line}


def _abstention(reason: str) -> Answer:
    return {"crash": None, "exception": None, "reason": reason[:REASON], "line": None}
