"""Catalogue: from a method's name to what builds it, imported only when it is built."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from failbench.base.errors import BadInputError
from failbench.base.methods import ENTRIES, FEATURE_METHODS, MONITOR_METHODS

if TYPE_CHECKING:
    from failbench.methods.declaration import MethodDeclaration


def method_named(name: str) -> MethodDeclaration:
    """The declaration of a method that is fitted to features, or to what the monitor knows."""
    if name not in (*FEATURE_METHODS, *MONITOR_METHODS):
        known = ", ".join((*FEATURE_METHODS, *MONITOR_METHODS))
        raise BadInputError("methods", "method", f"{name!r} is unknown.", f"Choose one of {known}.")
    module = ENTRIES[name].module
    assert module is not None
    declarations: dict[str, MethodDeclaration] = import_module(
        f"failbench.methods.{module}"
    ).DECLARATIONS
    return declarations[name]
