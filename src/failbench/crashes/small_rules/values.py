"""What is established of a value, from code or a summary; what is not is left empty."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
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
