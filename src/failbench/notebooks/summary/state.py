"""The summary of a kernel's names, made inside the kernel; see ``docs/notebooks.md``.

It is imported by the kernel for one expression, binds no name there, and changes nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from failbench.notebooks.summary import arrays, columns, models
from failbench.notebooks.summary.arrays import of_class
from failbench.notebooks.summary.raw import (
    ITEMS,
    MANY,
    NAMES,
    Entry,
    answers_itself,
    attributes_of,
    bases_of,
    entry,
    inherits,
    is_exactly,
    kind_of_attribute,
    label,
    library_type,
    members_of,
    module_of,
    name_of_class,
    primitive,
)

DEPTH: Final = 2
"""How far containers are entered."""

SIZE: Final = 65_536
"""Characters that a summary has at most; names are left out from the end, which it says."""

FLAT = (list, tuple)
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)


def summarise(
    namespace: Mapping[str, Any], names: Sequence[str], attributes: Mapping[str, Sequence[str]]
) -> str:
    """The summary as JSON.

    Parameters
    ----------
    namespace
        The kernel's global names.
    names
        Those that are wanted; one that is not in the namespace is left out.
    attributes
        Of each name, the attributes of which to say where they are found.
    """
    entries: dict[str, Entry] = {}
    size = 0
    truncated = False
    for name in sorted(set(names)):
        if name not in namespace:
            continue
        described = describe(namespace[name], DEPTH)
        asked = {
            attribute: kind_of_attribute(namespace[name], attribute)
            for attribute in sorted(attributes.get(name, ()))
        }
        if asked:
            described["type"]["attributes"] = asked
        size += len(json.dumps(described))
        truncated = truncated or size > SIZE
        if not truncated:
            entries[name] = described
    whole = {"relevant": sorted(set(names)), "names": entries, "truncated": truncated}
    return json.dumps(whole, sort_keys=True, allow_nan=False)


def describe(value: Any, depth: int) -> Entry:
    """The summary of one value, entered as deep as told.

    Nothing but the type is known of an object whose library raises while it is read.
    """
    try:
        return _describe(value, depth)
    except Exception:  # an object in an unusual state must not end the summary
        return entry(of_class(value, "unreadable"))


def _describe(value: Any, depth: int) -> Entry:
    cls = type(value)
    if answers_itself(cls):
        return entry(of_class(value, "object"))
    if value is None or primitive(value) is not None:
        return _plain(value)
    tables = arrays.describers() | columns.describers()
    described = tables.get(cls) or _of_torch(cls)
    if described is not None:
        return described(value)
    if cls in (*FLAT, set, frozenset, range):
        return _sequence(value, depth)
    if name_of_class(cls) in MAPPINGS:
        return _mapping(value, depth)
    if cls is ModuleType:
        return _library(value)
    if cls in FUNCTIONS:
        return _function(value)
    if inherits(cls, type):
        return _class(value)
    if models.is_estimator(value):
        return models.estimator(value, describe, depth)
    if models.is_network(value):
        return models.network(value, describe, depth)
    if inherits(cls, library_type("torch.optim", "Optimizer")):
        return models.optimizer(value)
    if cls is library_type("torch.utils.data", "DataLoader"):
        return models.loader(value, describe, depth)
    known = str(value) if cls is library_type("torch", "device") else arrays.scalar(value)
    if known is not None:
        return entry(of_class(value, "scalar"), None, {"value": known})
    return _object(value, depth)


MAPPINGS: Final = frozenset(
    {
        "dict",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.Counter",
        "sklearn.utils._bunch.Bunch",
    }
)
"""Mappings whose items are read as those of a dict, which they inherit from."""


def _of_torch(cls: type) -> Callable[[Any], Entry] | None:
    if cls in (library_type("torch", "Tensor"), library_type("torch.nn", "Parameter")):
        return models.tensor
    if cls is library_type("lightgbm", "Dataset"):
        return models.lightgbm_data
    return models.booster if cls is library_type("lightgbm", "Booster") else None


def _plain(value: Any) -> Entry:
    kind = "none" if value is None else "text" if type(value) is str else "number"
    structural = {"length": len(value)} if type(value) is str else None
    shown = {} if value is None else {"value": primitive(value)}
    return entry(of_class(value, kind), structural, shown)


def _sequence(value: Any, depth: int) -> Entry:
    elements = _elements(value)
    types = sorted({name_of_class(type(each)) for each in elements})
    lengths = [len(each) for each in elements if is_exactly(each, *FLAT, str, dict)]
    structural: dict[str, Any] = {"length": len(value)}
    if lengths and types != ["str"]:
        structural["element_lengths"] = [min(lengths), max(lengths)]
    numbers = [each for each in elements if is_exactly(each, int, float, bool)]
    details: dict[str, Any] = {}
    if numbers and len(numbers) == len(elements):
        absent = sum(math.isnan(each) for each in numbers) / len(numbers)
        present = [each for each in numbers if not math.isnan(each)]
        details["nan_share"] = primitive(absent)
        ends = (min(present), max(present)) if present else ()
        details["range"] = [primitive(each) for each in ends] or None
    if elements and all(primitive(each) is not None for each in elements):
        details["first"] = [primitive(each) for each in elements[:ITEMS]]
        return entry(of_class(value, "sequence", element_types=types[:ITEMS]), structural, details)
    items = {}
    if depth > 0:
        items = {str(i): describe(each, depth - 1) for i, each in enumerate(elements[:ITEMS])}
    kind = of_class(value, "sequence", element_types=types[:ITEMS])
    return entry(kind, structural, details, items)


def _elements(value: Any) -> list[Any]:
    """The elements in an order that is the same each time; none of a set that has no such order."""
    if is_exactly(value, *FLAT, range):
        return list(value[:MANY])
    known = [primitive(each) for each in value]
    if any(each is None for each in known):
        return []
    return sorted(known, key=lambda each: (type(each).__name__, each))


def _mapping(value: Any, depth: int) -> Entry:
    pairs = list(dict.items(value))
    kept = [(key, each) for key, each in pairs if label(key) is not None][:NAMES]
    structural = {"length": len(pairs), "keys": [label(key) for key, _ in kept]}
    items = {}
    if depth > 0:
        items = {str(label(key)): describe(each, depth - 1) for key, each in kept}
    return entry(of_class(value, "mapping"), structural, None, items)


def _library(value: Any) -> Entry:
    stored = attributes_of(value)
    kind = {"kind": "library", "class": "module", "module": primitive(stored.get("__name__"))}
    return entry(kind | {"version": primitive(stored.get("__version__"))})


def _function(value: Any) -> Entry:
    kind = of_class(value, "function")
    function = value.__func__ if type(value) is MethodType else value
    kind["name"] = primitive(getattr(function, "__name__", None))
    if type(function) is FunctionType:
        kind |= _signature(function)
    return entry(kind)


def _signature(function: FunctionType) -> dict[str, Any]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    with_default = {*positional[len(positional) - len(function.__defaults__ or ()) :]}
    with_default |= set(function.__kwdefaults__ or ())
    return {
        "module": primitive(function.__module__),
        "parameters": [*positional, *named][:NAMES],
        "required": [name for name in (*positional, *named) if name not in with_default],
        "takes_any": bool(code.co_flags & 0x0C),
    }


def _class(value: Any) -> Entry:
    kind = {"kind": "class", "class": name_of_class(value)}
    for cls in bases_of(value):
        maker = members_of(cls).get("__init__")
        if type(maker) is FunctionType:
            kind |= _signature(maker)
            break
    bases = [name_of_class(cls) for cls in bases_of(value)[1:-1]]
    return entry(kind | {"bases": bases[:ITEMS]})


def _object(value: Any, depth: int) -> Entry:
    """An object of any other class: of the notebook's and of data sets what they store."""
    stored = attributes_of(value)
    names = [name for name in stored if type(name) is str and not name.startswith("_")][:NAMES]
    items = {}
    is_known = type(value) is library_type("torch.utils.data", "TensorDataset")
    is_read = is_known or module_of(type(value)) == "__main__"
    if depth > 0 and is_read:
        items = {name: describe(stored[name], depth - 1) for name in names}
    structural = {"stored": sorted(names)} if is_read else None
    return entry(of_class(value, "object"), structural, None, items)
