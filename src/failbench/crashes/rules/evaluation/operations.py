"""Attributes, subscripts, calls, operators and choices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import (
    arithmetic,
    attributes,
    calls,
    comparison,
    iteration,
    operators,
    subscripts,
)
from failbench.crashes.rules.evaluation.expressions import at, attempt, evaluate
from failbench.crashes.rules.knowledge.state import State, joined, truth
from failbench.crashes.rules.knowledge.values import Known, Mapping, Symbol, Unknown, Value


def _attribute(node: ast.Attribute, state: State) -> Value:
    value = evaluate(node.value, state)
    at(node, state)
    return attributes.attribute(value, node.attr, state)


def _subscript(node: ast.Subscript, state: State) -> Value:
    value = evaluate(node.value, state)
    index = evaluate(node.slice, state)
    at(node, state)
    return subscripts.item(value, index, state)


def _call(node: ast.Call, state: State) -> Value:
    function = evaluate(node.func, state)
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    is_complete = True
    for each in node.args:
        if isinstance(each, ast.Starred):
            inner = iteration.elements(evaluate(each.value, state))
            if inner is None:
                is_complete = False
                # what follows has no known position
                for rest in node.args[node.args.index(each) + 1 :]:
                    evaluate(rest.value if isinstance(rest, ast.Starred) else rest, state)
                break
            args.extend(inner)
        else:
            args.append(evaluate(each, state))
    for keyword in node.keywords:
        value = evaluate(keyword.value, state)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Mapping) and all(isinstance(key, str) for key in value.items):
            kwargs |= {str(key): item for key, item in value.items.items()}
            is_complete &= value.is_complete
        else:
            is_complete = False
    at(node, state)
    if isinstance(function, Symbol) and function.path == "builtins.super" and not args:
        return calls.parent(state)
    return calls.call(state, function, args, kwargs, is_complete)


def _binary(node: ast.BinOp, state: State) -> Value:
    left, right = evaluate(node.left, state), evaluate(node.right, state)
    at(node, state)
    return arithmetic.binary(type(node.op).__name__, left, right, state)


def _unary(node: ast.UnaryOp, state: State) -> Value:
    value = evaluate(node.operand, state)
    at(node, state)
    return operators.unary(type(node.op).__name__, value, state)


def _compare(node: ast.Compare, state: State) -> Value:
    left = evaluate(node.left, state)
    result: Value = Unknown()
    for place, (operator, each) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(each, state)
        at(node, state)
        compared = comparison.compare(type(operator).__name__, left, right, state)
        result = compared if place == 0 else _both(result, compared)
        is_true = operators.certain_truth(compared) if len(node.ops) > 1 else None
        if is_true is False:
            return Known(False)
        if is_true is None and place < len(node.ops) - 1:
            return Unknown()
        left = right
    return result


def _both(left: Value, right: Value) -> Value:
    first, second = truth(left), truth(right)
    if first is False or second is False:
        return Known(False)
    return Known(True) if first and second else Unknown()


def _boolean(node: ast.BoolOp, state: State) -> Value:
    ends_with = isinstance(node.op, ast.Or)
    value: Value = Unknown()
    for place, each in enumerate(node.values):
        value = evaluate(each, state)
        if place == len(node.values) - 1:
            break
        is_true = operators.certain_truth(value)
        if is_true is None:
            for rest in node.values[place + 1 :]:
                attempt(rest, state)
            return Unknown()
        if is_true is ends_with:
            return value
    return value


def _choice(node: ast.IfExp, state: State) -> Value:
    is_true = operators.certain_truth(evaluate(node.test, state))
    if is_true is None:
        return joined(attempt(node.body, state), attempt(node.orelse, state))
    return evaluate(node.body if is_true else node.orelse, state)


def _other(node: ast.expr, state: State) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(child, state)
    return Unknown()


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _choice,
    ast.Await: _other,
    ast.Yield: _other,
    ast.YieldFrom: _other,
}
