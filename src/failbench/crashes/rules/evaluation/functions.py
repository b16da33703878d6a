"""Functions that the code makes, and their scopes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.syntax import bound_names, global_names
from failbench.crashes.rules.knowledge.values import Function, Known, Value


def _lambda(node: ast.Lambda, state: State) -> Value:
    return function_of(node, state)


def function_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, state: State
) -> Function:
    """A function as it is defined, with its defaults and what it sees."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    defaults = {
        each.arg: evaluate(value, state)
        for each, value in zip(with_default, arguments.defaults, strict=True)
    }
    for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            defaults[each.arg] = evaluate(value, state)
    closure: list[dict[str, Value]] = []
    if state.scopes:
        outer = state.scopes[-1].get("<outer>")
        closure = [*(outer.data if isinstance(outer, Known) else []), state.scopes[-1]]
    return Function(node, defaults, closure)


def scope_of(node: ast.AST, closure: list[dict[str, Value]]) -> dict[str, Value]:
    """A new scope for the body of a function."""
    return {
        "<local>": Known(bound_names(node) - global_names(node)),
        "<global>": Known(global_names(node)),
        "<outer>": Known(closure),
    }


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.Lambda: _lambda,
}
