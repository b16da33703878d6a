"""Attributes: what is asked of a value, and what is stored in it."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import registry
from failbench.crashes.rules.evaluation.classes import is_network, library_bases, parents
from failbench.crashes.rules.evaluation.imports import constant, is_closed
from failbench.crashes.rules.knowledge import aliases
from failbench.crashes.rules.knowledge.folding import CONSTANTS, is_plain, lift
from failbench.crashes.rules.knowledge.interfaces import (
    class_of,
    members,
    module_has,
    recorded,
    removed,
)
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
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
from failbench.crashes.rules.knowledge.violation import ViolationError

PATHS: Final = {
    "numpy": "numpy.ndarray",
    "torch": "torch.Tensor",
    "series": "pandas.Series",
    "index": "pandas.Index",
}
"""Paths of arrays by their home."""

PLAIN: Final = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "range": range}


def class_path(value: Value) -> str | None:
    """The path of the class of a value of a library, or None."""
    if isinstance(value, Array):
        if value.home == "index" and (value.dtype or "").startswith("datetime64"):
            return "pandas.DatetimeIndex"
        if value.home == "index" and value.dtype == "category":
            return "pandas.Categorical"
        return PATHS.get(value.home)
    if isinstance(value, Frame):
        return "pandas.DataFrame"
    if isinstance(value, (Thing, Estimator, Network)):
        return value.path
    return None


def missing(value: Value, name: str, owner: str = "") -> ViolationError:
    """The violation of asking for what is not there."""
    owner = owner or class_path(value) or type(value).__name__
    row = removed().get((owner, name, "attribute"))
    if row is not None:
        return ViolationError(
            row.exception, f"{owner} has no {name} since {row.version}: {row.remedy}"
        )
    return ViolationError("AttributeError", f"{owner} has no attribute {name}")


def attribute(value: Value, name: str, state: State) -> Value:
    """The value of ``value.name``.

    Raises
    ------
    ViolationError
        If it is not there.
    """
    if name in value.absent:
        raise missing(value, name)
    if isinstance(value, Symbol):
        return _of_symbol(value, name)
    if isinstance(value, Known):
        return _of_plain(value, name)
    if isinstance(value, (Sequence, Mapping)):
        return _of_container(value, name)
    if isinstance(value, Instance):
        return _of_instance(value, name, state)
    if isinstance(value, Class):
        return _of_class(value, name)
    if isinstance(value, Function):
        return Unknown()
    if isinstance(value, Thing) and value.path == "super":
        return _of_parent(value, name)
    if (
        isinstance(value, Frame)
        and value.columns is not None
        and name in value.columns
        and name not in (members("pandas.DataFrame") or ())
    ):
        return value.columns[name]
    path = class_path(value)
    if path is None:
        return Unknown()
    reader = registry.properties().get(f"{path}.{name}") or _general(value, name)
    if reader is not None:
        return reader(value, name, state)
    known = members(path)
    if isinstance(value, Network):
        known = None if known is None else known | (members("torch.nn.Module") or frozenset())
        if name in value.children:
            return value.children[name]
        if value.parameters is not None and name in value.parameters:
            return value.parameters[name]
        known = None if known is None else known | set(value.settings) | _network_names(value)
    if known is None or name.startswith("_"):
        return Bound(value, name)
    if name in known:
        return Bound(value, name)
    if isinstance(value, Frame) and (value.columns is None or not value.is_complete):
        return Unknown()
    if isinstance(value, Array) and value.home == "series":
        labels = value.labels
        kind = None if labels is None else labels.dtype
        if kind is None or kind in ("str", "object", "category"):
            return Unknown()
    if isinstance(value, Thing) and path == "sklearn.utils.Bunch":
        return Unknown()
    raise missing(value, name)


def _network_names(value: Network) -> set[str]:
    """What layers store under names that their documentation has no list of."""
    parameters = recorded()["calls"].get(value.path, "")
    words = {word.rstrip("!").rstrip(":/") for word in parameters.split()}
    stored = {"weight", "bias", "training", "running_mean", "running_var", "num_batches_tracked"}
    return words | (stored if value.parameters is None else {"training"})


def _general(value: Value, name: str) -> registry.Property | None:
    if isinstance(value, Estimator):
        return registry.properties().get("estimator")
    if isinstance(value, Array) and value.home == "index":
        return registry.properties().get(f"pandas.Index.{name}")
    return None


def _of_symbol(value: Symbol, name: str) -> Value:
    path = f"{value.path}.{name}"
    row = removed().get((value.path, name, "attribute"))
    if row is not None:
        raise ViolationError(row.exception, f"{path} was removed in {row.version}: {row.remedy}")
    if path in CONSTANTS or path in ("numpy.newaxis",):
        return constant(path)
    if module_has(value.path, name) is False and is_closed(value.path):
        raise ViolationError("AttributeError", f"{value.path} has no {name}")
    known = class_of(value.path)
    if known is not None and not name.startswith("_"):
        names = members(value.path) or frozenset()
        is_network = "Module" in known["bases"]
        inherited = (members("torch.nn.Module") or frozenset()) if is_network else frozenset()
        if name not in names | inherited:
            raise ViolationError("AttributeError", f"{value.path} has no {name}")
    if value.path.startswith("builtins."):
        return Bound(value, name)
    shorter = aliases.RENAMED.get(path)
    return Symbol(shorter or path)


def _of_plain(value: Known, name: str) -> Value:
    if not hasattr(value.data, name):
        kind = type(value.data).__name__
        raise ViolationError("AttributeError", f"a {kind} has no attribute {name}")
    if name in ("real", "imag", "numerator", "denominator") and is_plain(value.data):
        return lift(getattr(value.data, name))
    return Bound(value, name)


def _of_container(value: Sequence | Mapping, name: str) -> Value:
    if isinstance(value, Mapping):
        if value.kind == "Bunch" and name in value.items:
            return value.items[name]
        if value.kind == "Bunch" and not hasattr(dict, name):
            if value.is_complete:
                raise ViolationError("AttributeError", name)
            return Unknown()
        if value.kind == "archive":
            return Unknown()
        if value.kind == "dict" and not hasattr(dict, name):
            raise ViolationError("AttributeError", f"a dict has no attribute {name}")
        return Bound(value, name)
    if value.kind == "tuple" and name == "numel":  # the shape of a tensor has more than a tuple
        return Unknown()
    known = PLAIN.get(value.kind)
    if known is not None and not hasattr(known, name):
        raise ViolationError("AttributeError", f"a {value.kind} has no attribute {name}")
    return Bound(value, name)


def _of_instance(value: Instance, name: str, state: State) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    for cls in parents(value.cls):
        if name in cls.members:
            member = cls.members[name]
            if isinstance(member, Function):
                return Bound(value, name, member)
            if isinstance(member, Thing) and member.path == "property":
                function = member.facts["function"]
                return (
                    state.call(function, [value]) if isinstance(function, Function) else Unknown()
                )
            if isinstance(member, Thing) and member.path in ("staticmethod", "classmethod"):
                return Unknown()
            return member
    bases = library_bases(value.cls)
    if bases is None or not value.is_complete or not value.cls.is_complete or name.startswith("__"):
        return Unknown()
    if any("__getattr__" in cls.members for cls in parents(value.cls)):
        return Unknown()
    known: set[str] = set()
    for path in bases:
        names = members(path)
        if names is None:
            if path in ("builtins.object", "torch.utils.data.Dataset", "abc.ABC"):
                continue
            return Unknown()
        known |= names
    if name in known or name in ("__class__", "__dict__"):
        return Bound(value, name)
    raise ViolationError("AttributeError", f"a {value.cls.name} has no attribute {name}")


def _of_parent(value: Thing, name: str) -> Value:
    instance = value.facts["self"]
    if not isinstance(instance, Instance):
        return Unknown()
    for base in instance.cls.bases:
        if isinstance(base, Class):
            for cls in parents(base):
                member = cls.members.get(name)
                if isinstance(member, Function):
                    return Bound(instance, name, member)
    if name == "__init__":
        instance.attributes["<started>"] = Known(True)
        bases = library_bases(instance.cls)
        known = ("torch.nn.Module", "torch.utils.data.Dataset", "builtins.object")
        instance.is_complete &= bases is not None and set(bases) <= set(known)
        return Unknown()
    return Bound(instance, name)


def _of_class(value: Class, name: str) -> Value:
    for cls in parents(value):
        if name in cls.members:
            return cls.members[name]
    return Unknown()


def set_attribute(owner: Value, name: str, value: Value, state: State) -> None:
    """Store ``owner.name = value``.

    Raises
    ------
    ViolationError
        If the library refuses it.
    """
    owner.absent -= {name}
    if isinstance(owner, Instance):
        if is_network(owner) and isinstance(value, (Network, Instance)):
            started = owner.attributes.get("<started>")
            if started is None and owner.is_complete:
                reason = "a layer is stored before super().__init__() was called"
                raise ViolationError("AttributeError", reason)
        owner.attributes[name] = value
    elif isinstance(owner, Class):
        owner.members[name] = value
    else:
        path = class_path(owner)
        writer = registry.writers().get(f"{path}.{name}")
        if writer is not None:
            writer(owner, value, state)
        elif isinstance(owner, Thing):
            owner.facts[name] = value
        elif isinstance(owner, Network):
            if isinstance(value, (Network, Instance)):
                owner.children[name] = value
            else:
                owner.settings[name] = value
        elif isinstance(owner, Estimator):
            owner.facts[f"stored {name}"] = value
        elif isinstance(owner, Mapping) and owner.kind == "Bunch":
            owner.items[name] = value
        elif isinstance(owner, Known) and isinstance(owner.data, (int, float, str)):
            raise ViolationError(
                "AttributeError", f"nothing can be stored in a {type(owner.data).__name__}"
            )
