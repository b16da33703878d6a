"""Sequences, mappings and archives that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.values import Array, Mapping, Sequence, Unknown, Value
from failbench.crashes.rules.told.entries import Entry, facts_of
from failbench.crashes.rules.told.refinement import refined


def _sequence(known: Value, entry: Entry) -> Value:
    structural, types, told = (facts_of(entry, part) for part in ("structural", "type", "value"))
    base = known if isinstance(known, Sequence) else Sequence("list")
    kind = {
        "list": "list",
        "tuple": "tuple",
        "set": "set",
        "range": "range",
        "frozenset": "frozenset",
    }.get(types.get("class", base.kind), base.kind)
    size = structural.get("length", base.size)
    items = base.items if base.items is not None and len(base.items) == size else None
    first = told.get("first")
    if (
        first is not None
        and size == len(first)
        and not any(isinstance(e, str) and e.endswith("…") for e in first)
    ):
        items = [lift(each) for each in first]
    children = entry.get("items")
    if isinstance(children, dict) and children:
        described = {
            key: refined(
                items[int(key)] if items is not None and int(key) < len(items) else None, each
            )
            for key, each in children.items()
            if key.isdigit()
        }
        if size == len(described):
            items = [described[str(place)] for place in range(size)]
        elif items is not None:
            for key, each in described.items():
                items[int(key)] = each
        elif size is not None and size <= 500:
            items = [described.get(str(place), Unknown()) for place in range(size)]
    if size == 0:
        items = []
    element = base.element
    ends = told.get("range")
    if items is None and ends and all(isinstance(e, (int, float)) for e in ends):
        dtype = "int64" if types.get("element_types") == ["int"] else None
        element = Array("python", (), dtype, low=ends[0], high=ends[1])
    return Sequence(kind, items, size, element)


def _mapping(known: Value, entry: Entry) -> Value:
    structural = facts_of(entry, "structural")
    base = known if isinstance(known, Mapping) else None
    kind = base.kind if base is not None else "dict"
    name = facts_of(entry, "type").get("class", "")
    kind = {
        "collections.defaultdict": "defaultdict",
        "collections.Counter": "Counter",
        "sklearn.utils._bunch.Bunch": "Bunch",
        "dict": "dict",
        "collections.OrderedDict": "dict",
    }.get(name, kind)
    old = dict(base.items) if base is not None else {}
    keys = structural.get("keys")
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    if keys is None:
        items = old
        is_complete = base.is_complete if base is not None else False
    else:
        labels = [tuple(key) if isinstance(key, list) else key for key in keys]
        items = {key: old.get(key, Unknown()) for key in labels}
        is_complete = structural.get("length", len(labels)) == len(labels)
        is_complete &= not any(isinstance(key, str) and key.startswith("<") for key in labels)
    for key in list(items):
        if children and str(key) in children:
            items[key] = refined(items[key], children[str(key)])
    return Mapping(items, is_complete, kind)


def _archive(_known: Value, entry: Entry) -> Value:
    keys = facts_of(entry, "structural").get("keys")
    return Mapping({key: Unknown() for key in keys or []}, keys is not None, "archive")


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "sequence": _sequence,
    "mapping": _mapping,
    "archive": _archive,
}
