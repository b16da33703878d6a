"""Objects made anew from their entries in a runtime summary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import (
    boosters,
    estimators,
    networks,
    objects,
    plain,
    tables,
    tensors,
)
from failbench.crashes.dry_run.known import Call, Meaning, names_of_self
from failbench.crashes.dry_run.needs import NotRebuiltError, check_told
from failbench.notebooks.summary.raw import kind_of_attribute
from failbench.notebooks.summary.state import DEPTH, describe

Entry = dict[str, Any]

UNCHECKED: Final = ("attributes", "version")
"""Facts of a type that are held against what was made in another way, or not at all."""

PICTURES: Final = (
    "matplotlib.figure.Figure",
    "matplotlib.axes._axes.Axes",
    "matplotlib.projections.polar.PolarAxes",
    "mpl_toolkits.mplot3d.axes3d.Axes3D",
)


class Rebuilder:
    """Makes objects.

    Parameters
    ----------
    seed
        Of everything that is drawn.
    meanings
        What the code says of names.
    defined
        Gives what the code defines under a name; raises NotRebuiltError if it defines nothing.
    """

    def __init__(
        self, seed: int, meanings: dict[str, Meaning], defined: Callable[[str], Any]
    ) -> None:
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._meanings = meanings
        self._defined = defined
        self._networks: list[Any] = []

    def rebuild(self, entry: Entry, name: str = "") -> Any:
        """An object of which everything that is told of its type and structure holds.

        Parameters
        ----------
        name
            That the object has in the notebook, if it has one.

        Raises
        ------
        NotRebuiltError
            If too little is told, or what is made is not as told.
        """
        kind = check_told(entry)
        try:
            made = self._make(kind, entry, name)
        except NotRebuiltError:
            raise
        except Exception as error:
            problem = f"to make it raised {type(error).__name__}"
            raise NotRebuiltError(problem) from error
        if not agrees(entry, made):
            raise NotRebuiltError("what can be made of it is not as told")
        return made

    def _make(self, kind: str, entry: Entry, name: str) -> Any:
        rng, path = self._rng, entry["type"]["class"]
        simple: dict[str, Callable[[], Any]] = {
            "none": lambda: None,
            "number": lambda: plain.plain_number(entry),
            "text": lambda: plain.text(entry),
            "scalar": lambda: plain.scalar(entry),
            "array": lambda: self._array(entry),
            "sequence": lambda: plain.sequence(entry, self.rebuild, rng),
            "mapping": lambda: plain.mapping(entry, self.rebuild),
            "frame": lambda: tables.frame(entry, rng),
            "series": lambda: tables.series(entry, rng),
            "index": lambda: tables.whole_index(entry),
            "tensor": lambda: tensors.tensor(entry, rng),
            "loader": lambda: tensors.loader(entry, self.rebuild, self._defined),
            "dataset": lambda: boosters.dataset(entry, rng),
            "booster": lambda: boosters.booster(entry, rng),
            "library": lambda: objects.library(entry),
            "function": lambda: objects.function(entry, self._defined),
            "class": lambda: self._class(path),
            "random": lambda: objects.random_generator(entry, self._seed),
        }
        if kind in simple:
            return simple[kind]()
        if kind == "object" and path in PICTURES:
            return objects.picture(path)
        if kind == "object" and path == tensors.TABLE and "tensors" in entry.get("items", {}):
            return self._class(path)(*self.rebuild(entry["items"]["tensors"]))
        if kind == "object" and not path.startswith("__main__."):
            raise NotRebuiltError(f"nothing of the class {path} is made")
        cls = self._class(path)
        if kind == "object":
            return objects.notebook_object(entry, cls, self.rebuild, self._names_of_self(path))
        if kind == "estimator":
            return estimators.estimator(entry, cls, self.rebuild, rng)
        if kind == "optimizer":
            return tensors.optimizer(entry, cls, self._networks)
        ways = networks.ways(entry, cls, self._call(name), self.rebuild, self._names_of_self(path))
        made = networks.first_that(ways, entry, lambda each: agrees(entry, each))
        self._networks.append(made)
        return made

    def _array(self, entry: Entry) -> Any:
        types = entry.get("value", {}).get("element_types", [])
        if len(types) == 1 and types[0] in PICTURES:
            return objects.panels(types[0], entry["structural"]["shape"])
        return plain.array(entry, self._rng)

    def _class(self, path: str) -> Any:
        return objects.class_named(path, self._defined)

    def _call(self, name: str) -> Call | None:
        meaning = self._meanings.get(name)
        return None if meaning is None else meaning.call

    def _names_of_self(self, path: str) -> frozenset[str]:
        meaning = self._meanings.get(path.rpartition(".")[2], Meaning("other"))
        return names_of_self(meaning.code)


def agrees(entry: Entry, made: Any) -> bool:
    """Whether all facts of type and structure that are told of an object hold of another."""
    attributes = entry["type"].get("attributes", {})
    if any(
        (kind_of_attribute(made, name) == "absent") != (where == "absent")
        for name, where in attributes.items()
    ):
        return False
    return _same(entry, describe(made, DEPTH))


def _same(told: Entry, made: Entry) -> bool:
    for part in ("type", "structural"):
        known = made.get(part, {})
        for fact, value in told.get(part, {}).items():
            if fact not in UNCHECKED and known.get(fact) != value:
                return False
    if told["type"]["kind"] == "network" and _settings(told) != _settings(made):
        return False
    items = made.get("items", {})
    return all(
        _same(item, items[name]) for name, item in told.get("items", {}).items() if name in items
    )


def _settings(entry: Entry) -> Any:
    return entry.get("value", {}).get("settings", {})
