"""Modules that are imported, and what is imported from them."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.interfaces import LIBRARIES, module_has, recorded, removed
from failbench.crashes.rules.knowledge.values import Known, Symbol, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

ALIASES = {
    "matplotlib.pylab": "matplotlib.pyplot",
    "np": "numpy",
}


def check_module(name: str) -> None:
    """Refuse a module that a recorded library, or Python, does not have.

    Raises
    ------
    ViolationError
        If it is certain not to be there.
    """
    root, _, rest = name.partition(".")
    modules = recorded()["modules"]
    if root in LIBRARIES and rest and name not in modules:
        parent, _, last = name.rpartition(".")
        row = removed().get((parent, last, "attribute"))
        if row is not None or (root == "sklearn" and module_has(parent, last) is False):
            reason = f"there is no module {name}" + (f" since {row.version}" if row else "")
            raise ViolationError("ModuleNotFoundError", reason)


def module(name: str, is_renamed: bool) -> Value:
    """The value that ``import name`` binds: the module, or the package that it is in."""
    check_module(name)
    return Symbol(name if is_renamed else name.partition(".")[0])


def member(name: str, attribute: str) -> Value:
    """The value that ``from name import attribute`` binds.

    Raises
    ------
    ViolationError
        If the module has no such name.
    """
    check_module(name)
    path = f"{name}.{attribute}"
    row = removed().get((name, attribute, "attribute"))
    if row is not None or (module_has(name, attribute) is False and is_closed(name)):
        reason = f"{name} has no {attribute}"
        raise ViolationError("ImportError", reason + (f" since {row.version}" if row else ""))
    return constant(path)


def is_closed(name: str) -> bool:
    """Whether the recorded names of a module are all that it has for its users."""
    return name in recorded()["modules"] and name not in ("matplotlib", "torch", "sklearn")


def constant(path: str) -> Value:
    """The constant of a path, if it is one of those that rules use, else the symbol."""
    if path in ("numpy.newaxis",):
        return Known(None)
    return Symbol(ALIASES.get(path, path))
