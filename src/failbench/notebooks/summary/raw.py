"""What is read of an object without running any code of its class.

The summary is made inside a kernel that belongs to somebody else. So nothing here calls a method, a
property, ``repr``, ``==`` or ``hash`` of an object unless its type is one that Python or a library
defines, exactly and not by inheritance.
"""

from __future__ import annotations

import math
import sys
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

DIGITS: Final = 6
TEXT: Final = 80
"""Characters that are kept of a text."""

UNIQUES: Final = 5
NAMES: Final = 40
"""Columns, keys or attributes that are kept of one object."""

ITEMS: Final = 5
"""Elements of a sequence that are described."""

MANY: Final = 1_000_000
"""Values of an array that are looked at, from its beginning."""

Entry = dict[str, Any]
"""A summary: ``type``, ``structural``, ``value`` and ``items``, of which empty ones are absent."""

_MRO = type.__dict__["__mro__"]
_DICT = type.__dict__["__dict__"]
_MODULE = type.__dict__["__module__"]


def library_type(module: str, name: str) -> Any:
    """A class of a library, or None if the library, which is not imported here, was not."""
    return getattr(sys.modules.get(module), name, None)


def bases_of(cls: type) -> tuple[type, ...]:
    """The classes that a class inherits from, itself first."""
    return tuple(_MRO.__get__(cls))


def members_of(cls: type) -> Any:
    """The attributes that a class itself defines."""
    return _DICT.__get__(cls)


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that are stored in an instance; empty if it keeps them in another way."""
    for cls in bases_of(type(value)):
        descriptor = members_of(cls).get("__dict__")
        if is_exactly(descriptor, GetSetDescriptorType, MemberDescriptorType):
            stored = descriptor.__get__(value)
            return stored if type(stored) is dict else {}
        if descriptor is not None:
            return {}
    return {}


def inherits(cls: type, base: Any) -> bool:
    """Whether a class inherits from another, which may be None; neither is asked."""
    return any(each is base for each in bases_of(cls))


def is_exactly(value: Any, *types: Any) -> bool:
    """Whether the type of a value is one of these; it is not asked, and nor are its bases."""
    return any(type(value) is each for each in types)


def module_of(cls: type) -> str:
    """The module that a class was defined in; ``__main__`` for one of the notebook."""
    module = _MODULE.__get__(cls)
    return module if type(module) is str else ""


def name_of_class(cls: type) -> str:
    """Module and qualified name."""
    name = str(type.__dict__["__qualname__"].__get__(cls))
    return name if module_of(cls) == "builtins" else f"{module_of(cls)}.{name}"


KNOWN_ROOTS: Final = frozenset(
    ("builtins", "abc", "enum", "typing", "torch", "numpy", "pandas", "sklearn", "polars")
)
"""Packages whose classes of classes are trusted."""


def answers_itself(cls: type) -> bool:
    """Whether the class of a class, which compares and hashes it, may be the notebook's own."""
    return module_of(type(cls)).partition(".")[0] not in KNOWN_ROOTS


def primitive(value: Any) -> Any:
    """A value as JSON has it, or None if it is no number, truth value or text of Python's own."""
    if type(value) is float:
        return value_of_float(value)
    if type(value) is int:
        return value if abs(value) < 2**63 else str(value)[:TEXT]
    if type(value) is str:
        return value if len(value) <= TEXT else value[: TEXT - 1] + "…"
    return value if type(value) is bool else None


def value_of_float(value: float) -> float | str:
    """A number with six digits; a word if it is not finite, which JSON does not know."""
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.{DIGITS}g}")


def label(value: Any) -> Any:
    """A key, a column or an index label: the value itself, or the name of its type in brackets."""
    if type(value) is tuple:
        return [label(part) for part in value[:ITEMS]]
    known = primitive(value)
    return f"<{name_of_class(type(value))}>" if known is None and value is not None else known


def kind_of_attribute(value: Any, name: str) -> str:
    """Where an attribute is found, without asking for it.

    Returns
    -------
    str
        ``stored`` in the instance, ``method``, ``property`` or ``member`` of its class, ``dynamic``
        if the class answers for any name, else ``absent``.
    """
    stored = attributes_of(value)
    if name in stored:
        return "stored"
    classes = bases_of(type(value))
    if inherits(type(value), type):
        classes = bases_of(value) + classes
    for cls in classes:
        if name in members_of(cls):
            member = members_of(cls)[name]
            if type(member) is property:
                return "property"
            is_called = any("__call__" in members_of(each) for each in bases_of(type(member)))
            return "method" if is_called else "member"
    answers = any("__getattr__" in members_of(cls) for cls in classes)
    return "dynamic" if answers or "__getattr__" in stored else "absent"


def entry(
    type_: dict[str, Any],
    structural: dict[str, Any] | None = None,
    value: dict[str, Any] | None = None,
    items: dict[str, Entry] | None = None,
) -> Entry:
    """A summary without what is unknown (None) or empty."""
    parts = {"type": type_, "structural": structural, "value": value, "items": items}
    cleaned = {
        part: {key: known for key, known in content.items() if known is not None}
        for part, content in parts.items()
        if content
    }
    return {part: content for part, content in cleaned.items() if content}
