"""Python's own objects: numbers, texts, sequences and mappings."""

from __future__ import annotations

import ast
import io
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.needs import NotRebuiltError

Entry = dict[str, Any]
Rebuild = Callable[[Entry], Any]
Unknown = Callable[[], Any]
More = Callable[[list[Any]], list[Any] | None]

NUMBERS: Final = {"int": int, "float": float, "bool": bool}
SEQUENCES: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
EMPTY: Final[dict[str, Callable[[], Any]]] = {
    "dict": dict,
    "list": list,
    "tuple": tuple,
    "set": set,
    "str": str,
}
"""Of elements that are not described: what has the class, and nothing in it."""


def plain_number(entry: Entry) -> Any:
    """A number or truth value."""
    return NUMBERS[entry["type"]["class"]](entry["value"]["value"])


def text(entry: Entry) -> str:
    """A text; one that was cut is made as long as it was by repeating it."""
    value = str(entry["value"]["value"])
    length = int(entry.get("structural", {}).get("length", len(value)))
    if length == len(value):
        return value
    known = value.removesuffix("…")
    return (known * (length // len(known) + 1))[:length]


def scalar(entry: Entry) -> Any:
    """A number, date or device of a library.

    Raises
    ------
    NotRebuiltError
        If it is of another class.
    """
    name, value = entry["type"]["class"], entry["value"]["value"]
    module, _, cls = name.rpartition(".")
    if module == "numpy":
        return getattr(np, cls)(value)
    if name == "torch.device":
        import torch

        return torch.device(value)
    import pandas as pd

    moments: dict[str, Callable[[str], Any]] = {
        "Timestamp": pd.Timestamp,
        "Timedelta": pd.Timedelta,
        "Period": pd.Period,
        "NaTType": lambda _: pd.NaT,
        "NAType": lambda _: pd.NA,
        "date": lambda shown: pd.Timestamp(shown).date(),
        "datetime": lambda shown: pd.Timestamp(shown).to_pydatetime(),
        "timedelta": lambda shown: pd.Timedelta(shown).to_pytimedelta(),
    }
    if cls not in moments:
        raise NotRebuiltError(f"no scalar of the class {name} is made")
    return moments[cls](value)


def sequence(
    entry: Entry, rebuild: Rebuild, rng: np.random.Generator, unknown: Unknown, more: More
) -> Any:
    """A list, tuple, set or range."""
    cls, length = entry["type"]["class"], int(entry["structural"]["length"])
    facts, items = entry.get("value", {}), entry.get("items", {})
    if cls == "range":
        first = [int(each) for each in facts.get("first", (0,))]
        step = first[1] - first[0] if len(first) > 1 else 1
        return range(first[0], first[0] + step * length, step)
    if cls not in SEQUENCES:
        raise NotRebuiltError(f"no sequence of the class {cls} is made")
    if length == 0:
        return SEQUENCES[cls]([])
    if facts.get("first"):
        elements = _primitives(entry, length, rng, more)
    elif items:
        described = [items[str(place)] for place in range(min(length, len(items)))]
        elements = [rebuild(described[place % len(described)]) for place in range(length)]
    else:
        elements = _undescribed(entry, length, rng, unknown)
    return SEQUENCES[cls](elements)


def _primitives(entry: Entry, length: int, rng: np.random.Generator, more_of: More) -> list[Any]:
    facts, types = entry["value"], entry["type"]["element_types"]
    first: list[Any] = [
        float(each) if isinstance(each, str) and types == ["float"] else each
        for each in facts["first"]
    ]
    more = length - len(first)
    if more <= 0:
        return first
    if all(isinstance(each, str) for each in first):
        if len(set(first)) < len(first):
            return first + [first[place] for place in rng.integers(0, len(first), more)]
        known = more_of(first)
        if known is not None and len(known) < more:
            raise NotRebuiltError("of its elements not all are told")
        return first + (values.more_texts(first, more) if known is None else known[:more])
    if "range" not in facts:
        return first + [first[place % len(first)] for place in range(more)]
    whole = types in (["int"], ["bool"])
    drawn = values.numbers(
        {"range": facts["range"], "distinct": length} | _gaps(facts, length, more),
        more,
        rng,
        whole=whole,
    )
    return first + [bool(each) for each in drawn] if types == ["bool"] else first + drawn


def _gaps(facts: dict[str, Any], length: int, more: int) -> dict[str, Any]:
    """The share of gaps among elements that are not told, where all are told in sum."""
    seen = sum(each == "nan" for each in facts["first"])
    left = float(facts.get("nan_share", 0.0)) * length - seen
    return {"nan_share": max(0.0, min(1.0, left / more))}


def _undescribed(
    entry: Entry, length: int, rng: np.random.Generator, unknown: Unknown
) -> list[Any]:
    types = entry["type"]["element_types"]
    facts = entry.get("value", {})
    lengths = entry.get("structural", {}).get("element_lengths")
    if len(types) != 1:
        return [unknown() for _ in range(length)]
    if types[0] in NUMBERS:
        drawn = values.numbers(facts, length, rng, whole=types[0] != "float")
        return [NUMBERS[types[0]](each) for each in drawn]
    module, _, name = types[0].rpartition(".")
    if module == "numpy" and name.startswith(("float", "int")):
        drawn = values.numbers(facts, length, rng, whole=name.startswith("int"))
        return [getattr(np, name)(each) for each in drawn]
    if types[0] in EMPTY and lengths == [0, 0]:
        return [EMPTY[types[0]]() for _ in range(length)]
    if types[0] in ("list", "tuple") and lengths is not None:
        sizes = rng.permutation([*(lengths * length)[:length]])
        return [SEQUENCES[types[0]]([unknown() for _ in range(size)]) for size in sizes]
    return [unknown() for _ in range(length)]


def mapping(entry: Entry, rebuild: Rebuild, missing: Callable[[str], Any]) -> Any:
    """A mapping."""
    structural, items = entry["structural"], entry.get("items", {})
    keys = structural["keys"]
    if len(keys) < int(structural["length"]):
        raise NotRebuiltError("of its keys not all are told")
    content = {}
    for key in keys:
        if isinstance(key, str) and key.startswith("<") and key.endswith(">"):
            raise NotRebuiltError("of a key no more than the class is told")
        is_told = str(key) in items
        content[_key(key)] = rebuild(items[str(key)]) if is_told else missing(str(key))
    cls = entry["type"]["class"]
    if cls == "sklearn.utils._bunch.Bunch":
        from sklearn.utils import Bunch

        return Bunch(**content)
    known: dict[str, Callable[[Any], Any]] = {
        "dict": dict,
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "collections.defaultdict": lambda content: defaultdict(lambda: missing(""), content),
    }
    if cls not in known:
        raise NotRebuiltError(f"of a {cls} not all is told")
    return known[cls](content)


def _key(key: Any) -> Any:
    return tuple(_key(part) for part in key) if isinstance(key, list) else key


def dtype_of(name: str) -> np.dtype[Any]:
    """A type of numpy from how it is shown.

    Raises
    ------
    NotRebuiltError
        If it is none.
    """
    try:
        return np.dtype(ast.literal_eval(name) if name.startswith(("[", "{")) else name)
    except (TypeError, ValueError, SyntaxError) as error:
        raise NotRebuiltError(f"{name} is no type of numpy") from error


def array(entry: Entry, rng: np.random.Generator, unknown: Unknown) -> Any:
    """An array of numpy."""
    shape = tuple(entry["structural"]["shape"])
    dtype, facts = dtype_of(entry["type"]["dtype"]), entry.get("value", {})
    if "value" in facts:
        return np.array(facts["value"], dtype)
    check_size(shape, dtype.itemsize)
    size = int(np.prod(shape, dtype=np.int64))
    made = values.array(facts, dtype, size, rng, unknown).reshape(shape)
    is_masked = entry["type"]["class"] == "numpy.ma.MaskedArray"
    return made.view(np.ma.MaskedArray) if is_masked else made


def archive(entry: Entry, unknown: Unknown) -> Any:
    """A file of arrays, of which no more than their names is told."""
    content = io.BytesIO()
    arrays: dict[str, Any] = dict.fromkeys(entry["structural"]["keys"], 0)
    np.savez(content, **arrays)
    content.seek(0)
    made = np.load(content)
    made.zip = unknown()  # which is asked for an array that is there
    return made


LARGEST: Final = 2**28
"""Bytes of an array that is made; what is larger would take longer than a run may."""


def check_size(shape: tuple[int, ...], size: int) -> None:
    """Refuse to make what is too large.

    Raises
    ------
    NotRebuiltError
        If it is.
    """
    if int(np.prod(shape, dtype=np.float64)) * size > LARGEST:
        raise NotRebuiltError("it is too large to be made")
