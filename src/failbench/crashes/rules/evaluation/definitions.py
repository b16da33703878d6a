"""Functions and classes that are defined."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import classes
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.evaluation.functions import function_of
from failbench.crashes.rules.evaluation.names import bind
from failbench.crashes.rules.evaluation.outcome import Outcome
from failbench.crashes.rules.evaluation.statements import execute
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Class, Known, Symbol, Unknown, Value


def _define(node: ast.FunctionDef | ast.AsyncFunctionDef, state: State) -> None:
    value: Value = function_of(node, state)
    if isinstance(node, ast.AsyncFunctionDef):
        value = Unknown()
    for decorator in reversed(node.decorator_list):
        made = evaluate(decorator, state)
        path = made.path if isinstance(made, Symbol) else ""
        if path in ("torch.no_grad", "torch.inference_mode", "functools.cache") or path.startswith(
            "functools."
        ):
            continue
        if path in ("builtins.property", "builtins.staticmethod", "builtins.classmethod"):
            value = classes.marked(value, path)
        else:
            value = Unknown()
    bind(node.name, value, state)


def _define_class(node: ast.ClassDef, state: State) -> None:
    bases = [evaluate(base, state) for base in node.bases]
    is_complete = not node.keywords
    members: dict[str, Value] = {}
    outer = state.scopes
    inner: dict[str, Value] = {"<outer>": Known([]), "<global>": Known(frozenset())}
    state.scopes = [*outer, inner]
    state.depth += 1
    try:
        execute(node.body, state)
    finally:
        state.scopes = outer
        state.depth -= 1
    members = {key: value for key, value in inner.items() if not key.startswith("<")}
    made: Value = Class(node.name, bases, members, is_complete)
    for decorator in node.decorator_list:
        evaluated = evaluate(decorator, state)
        path = getattr(evaluated, "path", "")
        made = classes.data_class(made, node) if path.startswith("dataclasses.") else Unknown()
    bind(node.name, made, state)


HANDLERS: Final[dict[type[ast.stmt], Callable[[Any, State], Outcome | None]]] = {
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
}
