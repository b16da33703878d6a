"""What the libraries' interfaces have: names, arguments, allowed settings, words, data sets."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent.parent / "data"

FILE: Final = "interfaces.json.gz"
"""What was recorded of the libraries, 2 MB of JSON."""

LIBRARIES: Final = ("numpy", "pandas", "sklearn", "matplotlib", "lightgbm", "torch")


@dataclass(frozen=True)
class Removed:
    """A row of ``data/removed.csv``.

    Parameters
    ----------
    owner, name
        Path of a module, class or function, and the attribute or argument that it had.
    kind
        ``attribute`` or ``argument``.
    """

    owner: str
    name: str
    kind: str
    exception: str
    version: str
    remedy: str
    page: str


@cache
def recorded() -> dict[str, Any]:
    """The content of ``data/interfaces.json.gz``, which :mod:`.record` made."""
    content: dict[str, Any] = json.loads(gzip.decompress((DATA / FILE).read_bytes()))
    return content


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a table under ``data/``."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def removed() -> dict[tuple[str, str, str], Removed]:
    """What was removed, by owner, name and kind."""
    known = [Removed(**row) for row in rows("removed.csv")]
    return {(each.owner, each.name, each.kind): each for each in known}


@cache
def _paths() -> dict[str, str]:
    """Paths of documentation by the path where a class is defined."""
    by_class: dict[str, str] = {}
    classes = recorded()["classes"]

    def order(path: str) -> tuple[bool, int, str]:
        is_foreign = not classes[path]["class"].startswith(path.rpartition(".")[0] + ".")
        return is_foreign, path.count("."), path

    for path in sorted(classes, key=order):
        by_class.setdefault(classes[path]["class"], path)
    return by_class


def documented_path(path: str) -> str:
    """The path of the documentation of a class, whose definition may be in another module."""
    if path in recorded()["classes"]:
        return _paths().get(recorded()["classes"][path]["class"], path)
    return _paths().get(path, path)


def class_of(path: str) -> dict[str, Any] | None:
    """What is recorded of a class."""
    known: dict[str, Any] | None = recorded()["classes"].get(documented_path(path))
    return known


@cache
def members(path: str) -> frozenset[str] | None:
    """Attributes that a class defines, stores, or lists in its documentation."""
    known = class_of(path)
    if known is None:
        return None
    return frozenset([*known["members"], *known["documented"], *known["stored"]])


def module_has(module: str, name: str) -> bool | None:
    """Whether a module has a public name; None if the module is not recorded."""
    names = recorded()["modules"].get(module)
    if names is None or name.startswith("_"):
        return None
    return name in names or f"{module}.{name}" in recorded()["modules"]


def words(kind: str) -> frozenset[str]:
    """Words that an argument of a kind takes, such as names of colour maps."""
    return frozenset(recorded()["words"][kind])


@dataclass(frozen=True)
class Parameters:
    """The arguments that a function takes.

    Parameters
    ----------
    positional
        Those that may be given by position, in order.
    named
        Those that may be given by name.
    required
        Those that must be given.
    takes_more, takes_any
        Whether there are ``*args``, and ``**kwargs``.
    """

    positional: tuple[str, ...]
    named: frozenset[str]
    required: tuple[str, ...]
    takes_more: bool
    takes_any: bool


@cache
def parameters(path: str) -> Parameters | None:
    """The arguments of a function, class or method of a library, if they are recorded."""
    text = recorded()["calls"].get(path)
    if text is None:
        return None
    tokens = text.split()
    plain = [token for token in tokens if token not in ("*", "**")]
    stripped = {token: token.rstrip("!").rstrip(":/") for token in plain}
    return Parameters(
        tuple(stripped[token] for token in plain if not token.rstrip("!").endswith(":")),
        frozenset(stripped[token] for token in plain if not token.rstrip("!").endswith("/")),
        tuple(stripped[token] for token in plain if token.endswith("!")),
        "*" in tokens,
        "**" in tokens,
    )
