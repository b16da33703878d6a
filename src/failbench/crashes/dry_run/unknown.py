"""Stands for a part of an object of which nothing is told: whoever asks it anything is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.dry_run.namespace import UnknownNameError

ASKED: Final = (
    *("getattribute", "setattr", "delattr", "repr", "str", "format", "bytes", "hash", "bool"),
    *("int", "float", "complex", "index", "round", "trunc", "floor", "ceil", "call"),
    *("len", "iter", "next", "reversed", "contains", "getitem", "setitem", "delitem"),
    *("enter", "exit", "lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert"),
    *(
        f"{side}{name}"
        for name in (
            *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
            *("lshift", "rshift", "and", "xor", "or"),
        )
        for side in ("", "r", "i")
        if (side, name) != ("i", "divmod")
    ),
)
"""Special methods by which Python asks an object for anything."""


def unknown_class(miss: Callable[[], None]) -> Any:
    """A class whose objects know nothing."""

    def ask(*_: Any, **__: Any) -> Any:
        miss()
        raise UnknownNameError("a part of which nothing is told")

    return type("Unknown", (), {"__slots__": (), **{f"__{name}__": ask for name in ASKED}})
