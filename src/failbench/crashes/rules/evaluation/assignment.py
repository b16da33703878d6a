"""Values that are assigned to names, items and attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import attributes, iteration, subscripts
from failbench.crashes.rules.evaluation.expressions import at, evaluate
from failbench.crashes.rules.evaluation.names import bind
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def _named(node: ast.NamedExpr, state: State) -> Value:
    value = evaluate(node.value, state)
    assign(node.target, value, state)
    return value


def assign(target: ast.expr, value: Value, state: State) -> None:
    """Bind a value to a name, an attribute, an item, or its elements to several of them."""
    state.step()
    if isinstance(target, ast.Name):
        bind(target.id, value, state)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(target.elts, value, state)
    elif isinstance(target, ast.Starred):
        assign(target.value, value, state)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(target.value, state)
        at(target, state)
        attributes.set_attribute(owner, target.attr, value, state)
    elif isinstance(target, ast.Subscript):
        owner = evaluate(target.value, state)
        index = evaluate(target.slice, state)
        at(target, state)
        subscripts.set_item(owner, index, value, state)


def _unpack(targets: list[ast.expr], value: Value, state: State) -> None:
    iteration.check_iterable(value)
    items = iteration.elements(value)
    size = len(items) if items is not None else iteration.length(value)
    starred = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
    if size is not None:
        fewest = len(targets) - len(starred)
        if size < fewest:
            reason = f"{size} values are unpacked into {fewest} names"
            raise ViolationError("ValueError", f"not enough values to unpack: {reason}")
        if size > fewest and not starred:
            reason = f"{size} values are unpacked into {fewest} names"
            raise ViolationError("ValueError", f"too many values to unpack: {reason}")
    if items is None:
        element = iteration.element(value, state)
        for each in targets:
            assign(each, Unknown() if isinstance(each, ast.Starred) else element, state)
        return
    if starred:
        place = starred[0]
        after = len(targets) - place - 1
        middle = items[place : len(items) - after]
        items = [*items[:place], Sequence("list", list(middle)), *items[len(items) - after :]]
    for each, item in zip(targets, items, strict=False):
        assign(each, item, state)


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.NamedExpr: _named,
}
