"""Values as a runtime summary tells of them, completed by what the code says."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.values import (
    Array,
    Class,
    Estimator,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.told.entries import Entry, facts_of
from failbench.crashes.rules.told.readers import readers


def refined(value: Value | None, entry: Entry) -> Value:
    """What is known of a name.

    Parameters
    ----------
    value
        What the code says it is; None if the code does not bind it.
    entry
        What the summary tells; where it is silent the code is believed.
    """
    known = value if value is not None else Unknown()
    kind = facts_of(entry, "type").get("kind") or _guessed(known, entry)
    reader = readers().get(kind or "")
    made = known if reader is None else reader(known, entry)
    asked = facts_of(entry, "type").get("attributes") or {}
    absent = frozenset(name for name, where in asked.items() if where == "absent")
    if absent and not isinstance(made, Symbol):
        made.absent = made.absent | absent
    return made


def _guessed(value: Value, entry: Entry) -> str | None:
    """The kind of an entry that is told without its type."""
    structural, values = facts_of(entry, "structural"), facts_of(entry, "value")
    if isinstance(value, Array):
        return {"numpy": "array", "series": "series", "index": "index", "torch": "tensor"}.get(
            value.home
        )
    kinds: dict[type, str] = {
        Frame: "frame",
        Estimator: "estimator",
        Network: "network",
        Mapping: "mapping",
        Sequence: "sequence",
        Known: "number",
    }
    if type(value) in kinds:
        return kinds[type(value)]
    if isinstance(value, (Thing, Instance, Function, Class, Symbol)):
        return {"lightgbm.Dataset": "dataset", "lightgbm.Booster": "booster"}.get(
            getattr(value, "path", "")
        )
    if "columns" in structural or "by_column" in values:
        return "frame"
    if "keys" in structural:
        return "mapping"
    if "learnt" in structural:
        return "estimator"
    if "index_labels" in structural and "length" in structural:
        return "series"
    if "layers" in structural:
        return "network"
    if "value" in values and not structural.get("shape"):
        return "number"
    return None
