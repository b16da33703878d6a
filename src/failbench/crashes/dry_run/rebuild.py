"""Objects made anew from their entries in a runtime summary."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import (
    boosters,
    columns,
    estimators,
    networks,
    objects,
    plain,
    samples,
    tables,
    tensors,
)
from failbench.crashes.dry_run.constructed import construct
from failbench.crashes.dry_run.known import Meaning, names_of_self
from failbench.crashes.dry_run.namespace import UnknownNameError
from failbench.crashes.dry_run.needs import NotRebuiltError, check_told
from failbench.crashes.dry_run.pictures import MADE, Pictures
from failbench.crashes.dry_run.unknown import unknown_class
from failbench.notebooks.summary.raw import kind_of_attribute
from failbench.notebooks.summary.state import DEPTH, describe

Entry = dict[str, Any]

UNCHECKED: Final = ("attributes", "version")
"""Facts of a type that are held against what was made in another way, or not at all."""

DATA: Final = (
    *("array", "frame", "index", "mapping", "sequence", "series", "tensor", "text"),
    *("object", "optimizer", "random"),
)
"""Kinds of which what the code says is used if all that is told holds of it, values too."""

TRIED: Final = ("dataset", "loader")
"""Kinds of which it is used if what is told of type and structure does."""

TABLES: Final = 16
"""Tables that an estimator is fitted to, at most, until what it learnt is as told."""


class Rebuilder:
    """Makes objects, of what is told of names and of what the code says of them."""

    def __init__(
        self,
        seed: int,
        meanings: Mapping[str, Meaning],
        defined: Callable[[str], Any],
        told: Mapping[str, Entry] | None = None,
        miss: Callable[[], None] = lambda: None,
    ) -> None:
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._meanings = meanings
        self._defined = defined
        self._told = dict(told or {})
        self._unknown = unknown_class(miss)
        self._networks: list[Any] = []
        self._pictures = Pictures()
        self._datasets: list[Any] = []
        self._made: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        """The object of a name that is told of, which is made once."""
        if name not in self._made:
            self._made[name] = NotRebuiltError("it is made of itself")
            try:
                self._made[name] = self.rebuild(self._told[name], name)
            except NotRebuiltError as error:
                self._made[name] = error
        if isinstance(self._made[name], NotRebuiltError):
            raise self._made[name]
        return self._made[name]

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
        except (Exception, UnknownNameError) as error:
            problem = f"to make it raised {type(error).__name__}"
            raise NotRebuiltError(problem) from error
        if not agrees(entry, made):
            raise NotRebuiltError("what can be made of it is not as told")
        return made

    def _make(self, kind: str, entry: Entry, name: str) -> Any:
        rng, path, unknown = self._rng, entry["type"]["class"], self._unknown
        if kind in (*DATA, *TRIED):
            try:
                return self._as_written(entry, name, whole=kind in DATA)
            except NotRebuiltError as error:
                if kind == "object" and not path.startswith("__main__."):
                    return self._object(entry, path, error)
        is_polars = path.startswith("polars.")
        simple: dict[str, Callable[[], Any]] = {
            "none": lambda: None,
            "number": lambda: plain.plain_number(entry),
            "text": lambda: plain.text(entry),
            "scalar": lambda: plain.scalar(entry),
            "array": lambda: self._array(entry),
            "sequence": lambda: plain.sequence(
                entry, self.rebuild, rng, unknown, self._names_after
            ),
            "mapping": lambda: plain.mapping(entry, self.rebuild, self._missing),
            "archive": lambda: plain.archive(entry, unknown),
            "frame": lambda: (
                columns.frame(entry, rng) if is_polars else tables.frame(entry, rng, unknown)
            ),
            "lazy_frame": lambda: columns.lazy(entry, rng),
            "series": lambda: (
                columns.series(entry, rng) if is_polars else tables.series(entry, rng, unknown)
            ),
            "index": lambda: tables.whole_index(entry),
            "tensor": lambda: tensors.tensor(entry, rng),
            "loader": lambda: tensors.loader(entry, self.rebuild, self._defined),
            "dataset": lambda: boosters.dataset(entry, rng, self._datasets),
            "booster": lambda: boosters.booster(entry, rng),
            "library": lambda: objects.library(entry),
            "function": lambda: objects.function(entry, self._defined),
            "class": lambda: self._class(path),
            "random": lambda: objects.random_generator(entry, self._seed),
            "estimator": lambda: self._estimator(entry, name),
        }
        if kind in simple:
            return simple[kind]()
        cls = self._class(path)
        if kind == "object":
            asked = self._names_of_self(path)
            return objects.notebook_object(entry, cls, self.rebuild, asked, unknown)
        if kind == "optimizer":
            return tensors.optimizer(entry, cls, self._networks)
        written, asked = partial(self._written, name), self._names_of_self(path)
        ways = networks.ways(entry, cls, written, self.rebuild, asked)
        made = networks.first_that(ways, entry, lambda each: agrees(entry, each))
        self._networks.append(made)
        self._made.clear()  # what was made before may have parts like those of this one
        return made

    def _as_written(self, entry: Entry, name: str, *, whole: bool) -> Any:
        """What the code assigns to a name, if that is as told."""
        made = self._written(name)
        if hasattr(made, "__next__"):
            raise NotRebuiltError("how far it was read is not told")
        if not agrees(entry, made) or (whole and not is_same(entry, describe(made, DEPTH))):
            raise NotRebuiltError("what the code makes of it is not as told")
        return made

    def _written(self, name: str) -> Any:
        return construct(self._meanings.get(name, Meaning("other")), self._meant)

    def _meant(self, name: str, meaning: Meaning) -> Any:
        """What a name meant when an assignment was executed."""
        is_now = self._meanings.get(name) is meaning
        if meaning.kind in ("import", "definition"):
            if not is_now:
                raise NotRebuiltError(f"{name} now means something else")
            return self._defined(name)
        if is_now and name in self._told:
            return self.named(name)
        return construct(meaning, self._meant)

    def _object(self, entry: Entry, path: str, error: NotRebuiltError) -> Any:
        """An object of a library that the code does not construct."""
        if path in MADE:
            return self._pictures.make(path)
        if path == tensors.TABLE and "tensors" in entry.get("items", {}):
            return self._class(path)(*self.rebuild(entry["items"]["tensors"]))
        raise NotRebuiltError(f"of the class {path} {error}") from error

    def _estimator(self, entry: Entry, name: str) -> Any:
        """An estimator that the code constructs or whose settings are told, fitted if it was."""
        problem: Exception = NotRebuiltError("what can be made of it is not as told")
        ways: list[Callable[[], Any]] = [
            lambda: self._written(name),
            lambda: estimators.unfitted(entry, self._class, self.rebuild),
        ]
        fitted = entry["type"]["fitted"]
        sources = list(samples.sources(entry, self._told))[:TABLES] if fitted else [None]
        for make, source in itertools.product(ways, sources):
            try:
                made = make()
                if fitted:
                    estimators.fit(made, entry, self._told, source, self._rng)
            except (NotRebuiltError, ValueError) as error:
                problem = error
                continue
            if agrees(entry, made) and has_settings(entry, describe(made, DEPTH)):
                return made
        raise problem

    def _names_after(self, first: list[Any]) -> list[Any] | None:
        """Columns of a table that is told of, from those of a list on; None if it is no such."""
        for entry in self._told.values():
            known = entry.get("structural", {}).get("columns", ())
            if known and all(each in known for each in first):
                place = known.index(first[-1]) + 1
                others = [*known[place:], *known[:place]]
                return [each for each in others if each not in first]
        return None

    def _missing(self, key: str) -> Any:
        """What stands for the value of a key, of which no more is told."""
        made = tensors.parameter(key, self._networks) if self._networks and key else None
        return made if made is not None else self._unknown()

    def _array(self, entry: Entry) -> Any:
        types = entry.get("value", {}).get("element_types", [])
        if len(types) == 1 and types[0] in MADE:
            return self._pictures.panels(types[0], entry["structural"]["shape"])
        return plain.array(entry, self._rng, self._unknown)

    def _class(self, path: str) -> Any:
        return objects.class_named(path, self._defined)

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
    if told["type"]["kind"] == "network" and not has_settings(told, made):
        return False
    items = made.get("items", {})
    return all(
        _same(item, items[name]) for name, item in told.get("items", {}).items() if name in items
    )


def has_settings(told: Entry, made: Entry) -> bool:
    """Whether two estimators or layers have the same settings."""
    known: Entry = {}
    settings = [each.get("value", known).get("settings") for each in (told, made)]
    return bool(settings[0] == settings[1])


def is_same(told: Entry, made: Entry) -> bool:
    """Whether all that is told of an object, its values too, is what is told of another."""
    known = {name: fact for name, fact in told["type"].items() if name not in UNCHECKED}
    return told | {"type": known} == made
