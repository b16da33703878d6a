"""Numbers, texts and other single values that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from failbench.crashes.rules.knowledge.values import Array, Known, Thing, Unknown, Value
from failbench.crashes.rules.told.entries import WORDS, Entry, facts_of


def _number(known: Value, entry: Entry) -> Value:
    told = facts_of(entry, "value")
    if "value" in told:
        data = told["value"]
        if isinstance(data, str) and data.endswith("…"):
            return Array("python", (), "str")
        is_word = facts_of(entry, "type").get("class") == "float" or not facts_of(entry, "type")
        if isinstance(data, str) and data in WORDS and is_word and not _is_text(known):
            data = WORDS[data]
        if (
            isinstance(known, Known)
            and isinstance(known.data, float)
            and isinstance(data, float)
            and abs(known.data - data) <= 1e-5 * abs(data)
        ):
            return known
        return Known(data)
    kind = facts_of(entry, "type").get("class")
    if isinstance(known, Known) and (kind is None or type(known.data).__name__ == kind):
        return known
    dtype = {"int": "int64", "float": "float64", "bool": "bool", "str": "str"}.get(kind or "")
    return Array("python", (), dtype) if dtype else Unknown()


def _is_text(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.data, str)


def _none(_known: Value, _entry: Entry) -> Value:
    return Known(None)


def _scalar(known: Value, entry: Entry) -> Value:
    name = facts_of(entry, "type").get("class")
    told = facts_of(entry, "value").get("value")
    if name == "torch.device":
        return Thing("torch.device", {"device": told if told is not None else None})
    if name is None or told is None:
        return known if not isinstance(known, Unknown) else Unknown()
    if name.startswith("numpy.") and isinstance(told, (int, float)):
        dtype = name.partition(".")[2]
        made = Array("numpy", (), dtype if dtype != "bool" else "bool")
        made.data = np.asarray(told)
        return made
    return Unknown()


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "number": _number,
    "text": _number,
    "none": _none,
    "scalar": _scalar,
}
