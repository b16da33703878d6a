"""The state of an evaluation: names, how deep it is, where it is, and how much is left."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.knowledge import folding
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.values import Array, Class, Function, Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ExhaustedError

STEPS: Final = 30_000
"""Nodes of syntax trees that are evaluated for one question."""

DEEPEST: Final = 12
"""Calls of functions of the notebook within one another."""


@dataclass
class State:
    """Names and their values, and where the evaluation is.

    Parameters
    ----------
    names
        Of the notebook.
    scopes
        Names of the functions that are being called, innermost last.
    is_complete
        Whether a name that is not in ``names`` is not there.
    line
        Of the cell, while no function is being called.
    depth
        How many functions of the notebook are being called.
    left
        Nodes that may still be evaluated.
    without_grad
        How many contexts without gradients are open.
    caller
        What calls a value; set by :mod:`~failbench.crashes.rules.evaluation.calls`.
    """

    names: dict[str, Value] = field(default_factory=dict)
    scopes: list[dict[str, Value]] = field(default_factory=list)
    is_complete: bool = True
    line: int = 1
    depth: int = 0
    left: int = STEPS
    without_grad: int = 0
    caller: Callable[..., Value] | None = None

    def step(self) -> None:
        """Count a node.

        Raises
        ------
        ExhaustedError
            If there were too many.
        """
        self.left -= 1
        if self.left < 0:
            raise ExhaustedError

    def call(
        self, function: Value, args: list[Value], kwargs: dict[str, Value] | None = None
    ) -> Value:
        """Call a value."""
        if self.caller is None:
            return Unknown()
        return self.caller(self, function, args, kwargs or {}, True)

    def copied(self) -> dict[str, Any]:
        """Names and scopes as they are, for :meth:`restore`."""
        return copy.deepcopy({"names": self.names, "scopes": self.scopes}, _shared(self))

    def restore(self, stored: dict[str, Any]) -> None:
        """Go back; dictionaries that closures hold are those of before."""
        self.names = stored["names"]
        self.scopes = stored["scopes"]


def _shared(state: State) -> dict[int, Any]:
    """Syntax trees are never copied."""
    memo: dict[int, Any] = {}
    pending: list[Any] = [*state.names.values(), *(v for s in state.scopes for v in s.values())]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen or not isinstance(value, (Value, list, dict, tuple)):
            continue
        seen.add(id(value))
        if isinstance(value, Function):
            memo[id(value.node)] = value.node
        if isinstance(value, Array):
            if value.data is not None:
                memo[id(value.data)] = value.data
            continue
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, (list, tuple)):
            pending.extend(value)
        else:
            pending.extend(vars(value).values())
    return memo


@dataclass
class Call:
    """A call of a library's function or method.

    Parameters
    ----------
    path
        Of the function, or of the class and the method.
    is_complete
        Whether there are no other arguments, as from ``*args`` of unknown length.
    receiver
        What a method is called of.
    """

    state: State
    path: str
    args: list[Value]
    kwargs: dict[str, Value]
    is_complete: bool = True
    receiver: Value = field(default_factory=Unknown)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def arg(self, position: int | None, *names: str) -> Value | None:
        """An argument; None if it was not given, unknown if it may have been."""
        if position is not None and position < len(self.args):
            return self.args[position]
        for name in names:
            if name in self.kwargs:
                return self.kwargs[name]
        return None if self.is_complete else Unknown()

    def first(self) -> Value:
        """The first argument by position, or unknown."""
        return self.args[0] if self.args else Unknown()

    def known(self, position: int | None, *names: str, default: Any = None) -> Any:
        """An argument as a constant; ``default`` if it was not given.

        Raises
        ------
        NotConcreteError
            If it was given and is not known.
        """
        value = self.arg(position, *names)
        return default if value is None else concrete(value)

    def integer(self, position: int | None, *names: str, default: int | None = None) -> int | None:
        """An argument that is a whole number, or None."""
        try:
            known = self.known(position, *names, default=default)
        except NotConcreteError:
            return None
        return int(known) if isinstance(known, (int, np.integer)) else None

    def number(
        self, position: int | None, *names: str, default: float | None = None
    ) -> float | None:
        """An argument that is a number, or None."""
        try:
            known = self.known(position, *names, default=default)
        except NotConcreteError:
            return None
        is_number = isinstance(known, (int, float, np.number)) and not isinstance(known, complex)
        return float(known) if is_number else None

    def text(self, position: int | None, *names: str, default: str | None = None) -> str | None:
        """An argument that is a text, or None."""
        try:
            known = self.known(position, *names, default=default)
        except NotConcreteError:
            return None
        return str(known) if isinstance(known, str) else None

    def flag(self, position: int | None, *names: str, default: bool = False) -> bool | None:
        """Whether an argument is true, or None."""
        value = self.arg(position, *names)
        return default if value is None else truth(value)


def truth(value: Value) -> bool | None:
    """Whether a value is true, or None if that is not known."""
    try:
        known = concrete(value)
    except NotConcreteError:
        if isinstance(value, (Function, Class)):
            return True
        size = getattr(value, "size", None)
        is_container = type(value).__name__ in ("Sequence",)
        return bool(size) if is_container and size is not None else None
    if isinstance(known, np.ndarray):
        return bool(known.ravel()[0]) if known.size == 1 else None
    return bool(known)


def joined(left: Value, right: Value) -> Value:
    """What is known of a value that may be either."""
    if left is right:
        return left
    if isinstance(left, Known) and isinstance(right, Known):
        same = type(left.data) is type(right.data) and left.data == right.data
        return left if same else Unknown()
    if digest(left) == digest(right):
        return left
    if isinstance(left, Array) and isinstance(right, Array) and left.home == right.home:
        shape = left.shape
        if shape != right.shape:
            same_rank = shape is not None and right.shape is not None and left.rank == right.rank
            shape = (
                tuple(
                    a if a == b else None
                    for a, b in zip(shape or (), right.shape or (), strict=False)
                )
                if same_rank
                else None
            )
        dtype = left.dtype if left.dtype == right.dtype else None
        return Array(left.home, shape, dtype, device=None, needs_grad=None, is_leaf=None)
    return Unknown()


def digest(value: Any, depth: int = 6) -> Any:
    """A constant that is the same for values of which the same is known."""
    if depth == 0:
        return id(value)
    if isinstance(value, np.ndarray):
        return (
            value.dtype.str,
            value.shape,
            value.tobytes() if value.dtype.kind != "O" else repr(value.tolist()),
        )
    if isinstance(value, Value):
        if isinstance(value, (Function, Class)):
            return id(value)
        return type(value).__name__, tuple(
            (key, digest(each, depth - 1)) for key, each in sorted(vars(value).items())
        )
    if isinstance(value, dict):
        return tuple((repr(key), digest(each, depth - 1)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(digest(each, depth - 1) for each in value)
    return repr(value) if folding.is_plain(value) or isinstance(value, frozenset) else id(value)
