"""Values that are written out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration, operators, subscripts
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, key_of, lift
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Array, Known, Mapping, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def _constant(node: ast.Constant, _state: State) -> Value:
    return Known(node.value)


def _tuple(node: ast.Tuple, state: State) -> Value:
    return _sequence("tuple", node.elts, state)


def _list(node: ast.List, state: State) -> Value:
    return _sequence("list", node.elts, state)


def _set(node: ast.Set, state: State) -> Value:
    return _sequence("set", node.elts, state)


def _sequence(kind: str, nodes: list[ast.expr], state: State) -> Value:
    items: list[Value] | None = []
    for each in nodes:
        if isinstance(each, ast.Starred):
            inner = iteration.elements(evaluate(each.value, state))
            items = None if items is None or inner is None else [*items, *inner]
        else:
            value = evaluate(each, state)
            if items is not None:
                items.append(value)
    if kind == "set" and items is not None:
        try:
            return lift({key_of(item) for item in items})
        except NotConcreteError:
            return Sequence("set")
    return Sequence(kind, items)


def _dict(node: ast.Dict, state: State) -> Value:
    mapping = Mapping()
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = evaluate(value, state)
            if isinstance(inner, Mapping):
                mapping.items |= inner.items
                mapping.is_complete &= inner.is_complete
            else:
                mapping.is_complete = False
            continue
        known = evaluate(key, state)
        if isinstance(known, (Mapping,)) or (
            isinstance(known, Sequence) and known.kind in ("list", "set")
        ):
            name = known.kind
            raise ViolationError("TypeError", f"a key must be hashable, and a {name} is not")
        stored = evaluate(value, state)
        try:
            mapping.items[key_of(known)] = stored
        except NotConcreteError:
            mapping.is_complete = False
    return mapping


def _joined_text(node: ast.JoinedStr, state: State) -> Value:
    parts: list[str] | None = []
    for each in node.values:
        value = evaluate(each.value if isinstance(each, ast.FormattedValue) else each, state)
        layout = ""
        if isinstance(each, ast.FormattedValue) and each.format_spec is not None:
            spec = evaluate(each.format_spec, state)
            layout = str(spec.data) if isinstance(spec, Known) else "?"
        if isinstance(each, ast.FormattedValue):
            operators.check_format(value, layout)
        if isinstance(value, Known) and parts is not None and layout != "?":
            conversion = each.conversion if isinstance(each, ast.FormattedValue) else -1
            data = repr(value.data) if conversion == ord("r") else value.data
            try:
                parts.append(format(data, layout))
            except (TypeError, ValueError) as error:
                raise ViolationError(type(error).__name__, str(error)) from error
        else:
            parts = None
    if parts is None or sum(map(len, parts)) > 10_000:
        return Array("python", (), "str")
    return Known("".join(parts))


def _slice(node: ast.Slice, state: State) -> Value:
    ends = [None if e is None else evaluate(e, state) for e in (node.lower, node.upper, node.step)]
    try:
        known = [None if end is None else concrete(end) for end in ends]
    except NotConcreteError:
        return subscripts.UncertainSlice()
    return Known(slice(*known))


def _starred(node: ast.Starred, state: State) -> Value:
    evaluate(node.value, state)
    return Unknown()


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined_text,
    ast.Slice: _slice,
    ast.Starred: _starred,
}
