"""Networks and loaders that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import class_of, documented_path
from failbench.crashes.rules.knowledge.values import (
    Array,
    Instance,
    Known,
    Network,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.told.entries import Entry, dtype_told, facts_of
from failbench.crashes.rules.told.refinement import refined


def _network(known: Value, entry: Entry) -> Value:
    types, structural, told = (facts_of(entry, part) for part in ("type", "structural", "value"))
    if isinstance(known, Instance):
        return _of_notebook(known, entry)
    path = documented_path(types["class"]) if "class" in types else None
    if isinstance(known, Network) and path in (None, known.path):
        made = known
    elif path is not None and class_of(path) is not None:
        made = Network(path)
    else:
        return Unknown()
    for key, value in (told.get("settings") or {}).items():
        made.settings[key] = lift(value)
    if "training" in types:
        made.settings["training"] = Known(types["training"])
    shapes = structural.get("parameter_shapes")
    if shapes is not None:
        old = made.parameters or {}
        made.parameters = {}
        for name, shape in shapes.items():
            weight = old.get(name) or Array("torch", None, None, device=None, needs_grad=None)
            weight.shape = tuple(shape)
            made.parameters[name] = weight
    devices, dtypes, needs = types.get("devices"), types.get("dtypes"), types.get("requires_grad")
    for weight in (made.parameters or {}).values():
        if devices is not None:
            weight.device = devices[0] if len(devices) == 1 else None
        if dtypes is not None:
            weight.dtype = dtype_told(dtypes[0]) if len(dtypes) == 1 else None
        if needs is not None:
            weight.needs_grad = needs[0] if len(needs) == 1 else None
    layers = structural.get("layers")
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    if layers is not None:
        old_children = made.children
        made.children = {name: old_children.get(name, Unknown()) for name in layers}
    for name in list(made.children):
        if children and name in children:
            made.children[name] = refined(made.children[name], children[name])
    return made


def _of_notebook(known: Instance, entry: Entry) -> Value:
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    for name, child in (children or {}).items():
        if name in known.attributes:
            known.attributes[name] = refined(known.attributes[name], child)
    devices = facts_of(entry, "type").get("devices")
    for value in known.attributes.values():
        if isinstance(value, Network) and devices is not None and len(devices) == 1:
            for weight in (value.parameters or {}).values():
                weight.device = devices[0]
    return known


def _loader(known: Value, entry: Entry) -> Value:
    structural = facts_of(entry, "structural")
    made = (
        known
        if isinstance(known, Thing)
        else Thing("torch.utils.data.DataLoader", {"collate_fn": Unknown()})
    )
    if "batch_size" in structural:
        made.facts["batch_size"] = structural["batch_size"]
    if structural.get("collate") in ("default_collate", "default_convert") and known is not made:
        made.facts["collate_fn"] = None
    child = (entry.get("items") or {}).get("dataset")
    if child is not None:
        made.facts["dataset"] = refined(made.facts.get("dataset"), child)
    return made


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "network": _network,
    "loader": _loader,
}
