"""What is established of a value, else left empty, and plain facts of installed libraries."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

NOTHING: Final = object()
MANY: Final = 50
ARRAYS: Final = frozenset({"array", "tensor"})
TABLES: Final = frozenset({"frame", "series"})
FIXED: Final = frozenset({"text", "number", "none", "library", "function", "slice"})


class Violation(Exception):  # noqa: N818 - it is no error of this program
    """A rule is certainly broken; made of the name of the exception and a reason."""

    line: int | None = None


@dataclass(eq=False)
class Value:
    """A value, which names share; an attribute without rules is a path (its name) and an owner."""

    kind: str = ""
    cls: str = ""
    shape: tuple[int | None, ...] | None = None
    dtype: str = ""
    keys: list[Any] | None = None
    items: dict[Any, Value] = field(default_factory=dict)
    constant: Any = NOTHING
    path: str = ""
    owner: Value | None = None
    node: ast.FunctionDef | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> int | None:
        """Its first dimension."""
        return self.shape[0] if self.shape else None

    @property
    def is_fixed(self) -> bool:
        """Whether it is a plain constant."""
        return self.constant is not NOTHING and not isinstance(self.constant, range | slice)

    def forget(self) -> None:
        """Something may have changed it, which leaves its class alone."""
        inner = [*self.items.values(), *([self.owner] if self.owner else [])]
        if self.kind not in FIXED and self.cls != "tuple":
            self.shape, self.keys, self.owner, self.constant = None, None, None, NOTHING
            self.dtype, self.items, self.facts = "", {}, {}
        forget(inner)


def forget(values: Iterable[Value]) -> None:
    """Something may have changed these."""
    for value in list(values):
        value.forget()


def literal(constant: Any) -> Value:
    """The value of a constant."""
    if isinstance(constant, bytes | complex) or constant is ...:
        return Value()
    kind = {type(None): "none", str: "text"}.get(type(constant), "number")
    shape = (len(constant),) if isinstance(constant, str) else None
    return Value(kind, type(constant).__name__, shape, constant=constant)


def sequence(elements: list[Value], cls: str = "list") -> Value:
    """A list or tuple of these elements."""
    return Value("sequence", cls, (len(elements),), items=dict(enumerate(elements)))


def elements(value: Value) -> tuple[list[Value], bool]:
    """The first elements that a loop over it takes, and whether these are all."""
    length = value.length
    if isinstance(value.constant, range):
        return [literal(each) for each in value.constant[:MANY]], len(value.constant) <= MANY
    if value.kind in ("mapping", "frame") and value.keys is not None:
        return [literal(key) for key in value.keys], True
    if not length or value.cls in ("set", "frozenset"):
        return [], value.kind == "sequence" and length == 0
    if value.kind in ARRAYS and value.shape is not None:
        return [Value(value.kind, shape=value.shape[1:], dtype=value.dtype)], False
    if value.kind == "sequence" and length == len(value.items) <= MANY:
        return [value.items[place] for place in range(length)], True
    return [value.items.get(0, Value())], False


def truth(value: Value) -> bool | None:
    """Whether it counts as true; None if that is not established."""
    if value.kind in TABLES or (value.kind in ARRAYS and (value.length or 0) > 1):
        name = "RuntimeError" if value.kind == "tensor" else "ValueError"
        raise Violation(name, f"the truth of a whole {value.kind} is ambiguous")
    return bool(value.constant) if value.is_fixed else None


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
