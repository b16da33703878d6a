"""Loops."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration, operators
from failbench.crashes.rules.evaluation.assignment import assign
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.evaluation.names import bind
from failbench.crashes.rules.evaluation.outcome import Outcome
from failbench.crashes.rules.evaluation.statements import execute
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.syntax import touched_names
from failbench.crashes.rules.knowledge.values import Array, Known, Mapping, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def _for(node: ast.For, state: State) -> Outcome:
    iterable = evaluate(node.iter, state)
    iteration.check_iterable(iterable)
    run = iteration.rounds(iterable, state)
    maybe: list[Value] = []
    doubt = False
    for element in run.elements:
        if state.depth == 0:
            state.line = node.lineno
        assign(node.target, element, state)
        outcome = execute(node.body, state)
        maybe += outcome.maybe
        doubt |= outcome.is_doubtful
        if outcome.end == "break":
            return Outcome("next", Known(None), maybe, doubt and bool(maybe))
        if outcome.end == "return":
            if not run.is_exact:
                return Outcome("next", Known(None), [*maybe, outcome.value], True)
            return Outcome("return", outcome.value, maybe, doubt)
        if outcome.is_doubtful:
            _weaken(node.body, state)
            break
    if not run.is_exact:
        _weaken(node.body, state)
        for each in targets(node.target):
            bind(each, Unknown(), state)
    if node.orelse:
        ended = execute(node.orelse, state)
        return Outcome(ended.end, ended.value, [*maybe, *ended.maybe], doubt and bool(maybe))
    return Outcome("next", Known(None), maybe, doubt and bool(maybe))


def targets(node: ast.expr) -> list[str]:
    """Names that a target binds."""
    return [
        e.id for e in ast.walk(node) if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store)
    ]


def _while(node: ast.While, state: State) -> Outcome:
    maybe: list[Value] = []
    for _ in range(iteration.ROUNDS):
        is_true = operators.certain_truth(evaluate(node.test, state))
        if is_true is False:
            return Outcome("next", Known(None), maybe)
        if is_true is None:
            try:
                outcome = execute(node.body, state)
                maybe += [*outcome.maybe, *([outcome.value] if outcome.end == "return" else [])]
            except ViolationError:
                pass
            _weaken(node.body, state)
            return Outcome("next", Known(None), maybe, bool(maybe))
        outcome = execute(node.body, state)
        maybe += outcome.maybe
        if outcome.end == "break":
            return Outcome("next", Known(None), maybe, bool(maybe))
        if outcome.end == "return":
            return Outcome("return", outcome.value, maybe)
        if outcome.is_doubtful:
            break
    _weaken(node.body, state)
    return Outcome("next", Known(None), maybe, True)


def _weaken(body: list[ast.stmt], state: State) -> None:
    """Forget what further rounds of a loop may change."""
    stored = {
        n.id
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for name in touched_names(body):
        for scope in (state.names, *state.scopes):
            if name not in scope:
                continue
            value = scope[name]
            if isinstance(value, Sequence) and value.kind == "list":
                value.items, value.length, value.element = None, None, Unknown()
            elif isinstance(value, Mapping):
                value.is_complete = False
            elif name in stored:
                scope[name] = Unknown()
            elif isinstance(value, Array):
                value.data, value.is_attained, value.uniques = None, False, None
                value.low = value.high = value.nan = None


def _break(_node: ast.Break, _state: State) -> Outcome:
    return Outcome("break")


def _continue(_node: ast.Continue, _state: State) -> Outcome:
    return Outcome("continue")


HANDLERS: Final[dict[type[ast.stmt], Callable[[Any, State], Outcome | None]]] = {
    ast.For: _for,
    ast.While: _while,
    ast.Break: _break,
    ast.Continue: _continue,
}
