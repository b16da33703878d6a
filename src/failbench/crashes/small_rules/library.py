"""Plain facts of the installed libraries: what a module or class has, and what a function takes."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from failbench.crashes.small_rules.values import NOTHING, Violation

LIBRARIES: Final = frozenset({"numpy", "pandas", "sklearn", "lightgbm", "matplotlib"})
PLAIN: Final = frozenset({"math", "statistics", "itertools", "collections", "types", "builtins"})
STORED: Final = re.compile(r"\bself\.(\w+)|setattr\(self, [\"'](\w+)")


@cache
def thing(path: str) -> Any:
    """What a dotted path leads to; NOTHING if that is not established."""
    path = path if "." in path else f"builtins.{path}"
    parts = path.replace("builtins.NoneType", "types.NoneType").split(".")
    for cut in range(len(parts), 0, -1):
        module = _module(".".join(parts[:cut]))
        if module is not None:
            found: Any = module
            for part in parts[cut:]:
                found = inspect.getattr_static(found, part, NOTHING)
            return found
    return NOTHING


@cache
def _module(name: str) -> ModuleType | None:
    if name.partition(".")[0] not in LIBRARIES | PLAIN:
        return None
    try:
        return import_module(name) if find_spec(name) else None
    except ImportError:
        return None


@cache
def missing(path: str, name: str) -> str | None:
    """The exception with which a module of a library refuses a name, if it does."""
    module = _module(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _ = getattr(module, name) if module else None
    except ImportError:
        return "ImportError"
    except AttributeError:
        return None if _module(f"{path}.{name}") else "AttributeError"
    return None


def class_of(name: str) -> type | None:
    """A class by its full name."""
    found = thing(name) if name else None
    return found if isinstance(found, type) else None


@cache
def lacks(name: str, attribute: str) -> bool:
    """Whether neither a class nor an instance that it makes has an attribute."""
    cls = class_of(name)
    if cls is None or hasattr(cls, attribute) or hasattr(cls, "__getattr__"):
        return False
    for base in cls.__mro__:
        try:
            stored = STORED.findall(inspect.getsource(base))
        except (OSError, TypeError):
            continue
        if any(attribute in pair for pair in stored):
            return False
    return True


def refuse(path: str, names: set[str]) -> None:
    """Hold the names of arguments against a function of a library."""
    function = thing(path)
    if not callable(function) or (hasattr(function, "__wrapped__") and "matplotlib" in path):
        return  # such wrappers may take names that are no longer in the signature
    try:
        known = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return
    kinds, strange = {each.kind for each in known}, names - {each.name for each in known}
    if strange and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise Violation("TypeError", f"{path} takes no argument {min(strange)!r}")


@cache
def tags(name: str) -> Any:
    """What scikit-learn says of the estimators of a class; None if that needs settings."""
    cls = class_of(name)
    if cls is None or not hasattr(cls, "__sklearn_tags__"):
        return None
    try:
        return cls().__sklearn_tags__()
    except (TypeError, ValueError, AttributeError):
        return None
