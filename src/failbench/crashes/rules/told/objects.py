"""Other objects, functions, classes and modules that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.knowledge.interfaces import class_of, documented_path
from failbench.crashes.rules.knowledge.values import (
    Bound,
    Class,
    Function,
    Instance,
    Symbol,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.told.entries import Entry, facts_of
from failbench.crashes.rules.told.refinement import refined


def _object(known: Value, entry: Entry) -> Value:
    structural = facts_of(entry, "structural")
    if isinstance(known, Instance):
        stored = structural.get("stored")
        for name, child in (entry.get("items") or {}).items():
            known.attributes[name] = refined(known.attributes.get(name), child)
        if stored is not None and len(stored) < 40:
            for name in [n for n in known.attributes if n not in stored and not n.startswith("<")]:
                if not name.startswith("_"):
                    del known.attributes[name]
            for name in stored:
                known.attributes.setdefault(name, Unknown())
        return known
    name = facts_of(entry, "type").get("class")
    if isinstance(known, Thing) and (name is None or documented_path(name) == known.path):
        return known
    path = documented_path(name) if name is not None else ""
    if class_of(path) is not None:
        return Thing(path, {})
    return Unknown()


def _random(known: Value, entry: Entry) -> Value:
    name = str(facts_of(entry, "type").get("class"))
    if name.endswith("Generator") and "numpy" in name:
        return Thing("numpy.random.Generator", {})
    return Thing("numpy.random.RandomState", {}) if name.endswith("RandomState") else known


def _data_set(known: Value, entry: Entry) -> Value:
    types, structural = facts_of(entry, "type"), facts_of(entry, "structural")
    made = (
        known
        if isinstance(known, Thing)
        else Thing("lightgbm.Dataset", {"told": True, "constructed": None})
    )
    if "constructed" in types:
        made.facts["constructed"] = types["constructed"]
        free = types.get("free_raw_data", made.facts.get("free"))
        made.facts["free"] = free
        made.facts["freed"] = (
            bool(types["constructed"]) and bool(free) and types.get("data_class") == "NoneType"
        )
    if "data_shape" in structural:
        shape = structural["data_shape"]
        made.facts["rows"], made.facts["width"] = shape[0], shape[1] if len(shape) > 1 else None
    if "label_shape" in structural:
        made.facts["label_rows"] = (
            structural["label_shape"][0] if structural["label_shape"] else None
        )
    return made


def _booster(known: Value, entry: Entry) -> Value:
    made = known if isinstance(known, Thing) else Thing("lightgbm.Booster", {})
    features = facts_of(entry, "structural").get("features")
    if features is not None:
        made.facts["features"] = features
    return made


def _function(known: Value, entry: Entry) -> Value:
    types = facts_of(entry, "type")
    if isinstance(known, Function) or types.get("module") in (None, "__main__"):
        return known
    if isinstance(known, (Symbol, Bound)):
        return known
    return Unknown()


def _class(known: Value, entry: Entry) -> Value:
    if isinstance(known, (Class, Symbol)):
        return known
    name = facts_of(entry, "type").get("class", "")
    return Unknown() if name.startswith("__main__") else Symbol(documented_path(name))


def _library(known: Value, entry: Entry) -> Value:
    name = facts_of(entry, "type").get("module")
    if isinstance(known, Symbol) or name is None:
        return (
            known
            if isinstance(known, Symbol) and name in (None, known.path)
            else Symbol(name or "")
        )
    return Symbol(name)


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "object": _object,
    "random": _random,
    "dataset": _data_set,
    "booster": _booster,
    "function": _function,
    "class": _class,
    "library": _library,
}
