"""Evaluation of statements."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Statements
from typing import Any, Final

from failbench.crashes.rules.evaluation import (
    arithmetic,
    attributes,
    classes,
    handlers,
    imports,
    operators,
    subscripts,
)
from failbench.crashes.rules.evaluation.assignment import assign
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.evaluation.names import bind, look_up
from failbench.crashes.rules.evaluation.outcome import Outcome
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Instance, Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError, is_caught


def execute(body: Statements[ast.stmt], state: State) -> Outcome:
    """Evaluate statements in order."""
    maybe: list[Value] = []
    is_doubtful = False
    for node in body:
        state.step()
        if state.depth == 0:
            state.line = node.lineno
        handler = handlers.statements().get(type(node))
        if handler is None:
            continue
        try:
            outcome = handler(node, state)
        except ViolationError:
            if maybe or is_doubtful:
                return Outcome("return", Unknown(), maybe, True)
            raise
        if outcome is None:
            continue
        maybe += outcome.maybe
        is_doubtful |= outcome.is_doubtful
        if outcome.end != "next":
            return Outcome(outcome.end, outcome.value, maybe, is_doubtful)
    return Outcome("next", Known(None), maybe, is_doubtful)


def _expression(node: ast.Expr, state: State) -> None:
    evaluate(node.value, state)


def _assign(node: ast.Assign, state: State) -> None:
    value = evaluate(node.value, state)
    for target in node.targets:
        assign(target, value, state)


def _annotated(node: ast.AnnAssign, state: State) -> None:
    if node.value is not None:
        assign(node.target, evaluate(node.value, state), state)


def _augmented(node: ast.AugAssign, state: State) -> None:
    target = node.target
    operator = type(node.op).__name__
    if isinstance(target, ast.Name):
        old = look_up(target.id, state)
        new = arithmetic.in_place(operator, old, evaluate(node.value, state), state)
        bind(target.id, new, state)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(target.value, state)
        old = attributes.attribute(owner, target.attr, state)
        new = arithmetic.in_place(operator, old, evaluate(node.value, state), state)
        attributes.set_attribute(owner, target.attr, new, state)
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(target.value, state), evaluate(target.slice, state)
        old = subscripts.item(owner, index, state)
        new = arithmetic.in_place(operator, old, evaluate(node.value, state), state)
        subscripts.set_item(owner, index, new, state)


def _delete(node: ast.Delete, state: State) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            look_up(target.id, state)
            scope = state.scopes[-1] if state.scopes else state.names
            scope.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            owner, index = evaluate(target.value, state), evaluate(target.slice, state)
            subscripts.delete_item(owner, index, state)
        elif isinstance(target, ast.Attribute):
            owner = evaluate(target.value, state)
            if isinstance(owner, Instance):
                owner.attributes.pop(target.attr, None)


def _return(node: ast.Return, state: State) -> Outcome:
    value = Known(None) if node.value is None else evaluate(node.value, state)
    return Outcome("return", value)


def _with(node: ast.With, state: State) -> Outcome:
    suppressed: list[str] = []
    paths: list[str] = []
    for item in node.items:
        value = evaluate(item.context_expr, state)
        path = getattr(value, "path", "")
        paths.append(path)
        if path in ("contextlib.suppress", "pytest.raises"):
            known = getattr(value, "facts", {}).get("arguments", [])
            suppressed += [str(getattr(each, "path", "")).rpartition(".")[2] for each in known]
            suppressed = suppressed or ["?"]
        if item.optional_vars is not None:
            assign(item.optional_vars, classes.entered(value), state)
    without = sum(path in NO_GRAD for path in paths)
    state.without_grad += without
    try:
        return execute(node.body, state)
    except ViolationError as violation:
        if any(name == "?" or is_caught(violation.exception, name) for name in suppressed):
            return Outcome("next")
        raise
    finally:
        state.without_grad -= without


def _raise(node: ast.Raise, state: State) -> None:
    if node.exc is None:
        raise ViolationError("RuntimeError", "an exception is raised again")
    evaluate(node.exc, state)
    called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    raise ViolationError(ast.unparse(called).rpartition(".")[2], "the code raises it itself")


def _assert(node: ast.Assert, state: State) -> None:
    if operators.certain_truth(evaluate(node.test, state)) is False:
        raise ViolationError("AssertionError", "what is asserted is not so")


def _import(node: ast.Import, state: State) -> None:
    for alias in node.names:
        value = imports.module(alias.name, is_renamed=alias.asname is not None)
        bind(alias.asname or alias.name.partition(".")[0], value, state)


def _import_from(node: ast.ImportFrom, state: State) -> None:
    for alias in node.names:
        if alias.name == "*":
            imports.check_module(node.module or "")
            state.is_complete = False
        else:
            bind(alias.asname or alias.name, imports.member(node.module or "", alias.name), state)


NO_GRAD: Final = ("torch.no_grad", "torch.inference_mode")

HANDLERS: Final[dict[type[ast.stmt], Callable[[Any, State], Outcome | None]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.With: _with,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
