"""Statements of which one branch or another is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import operators
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.evaluation.names import bind
from failbench.crashes.rules.evaluation.outcome import Outcome
from failbench.crashes.rules.evaluation.statements import execute
from failbench.crashes.rules.knowledge.state import State, joined
from failbench.crashes.rules.knowledge.values import Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError, is_caught


def _if(node: ast.If, state: State) -> Outcome:
    is_true = operators.certain_truth(evaluate(node.test, state))
    if is_true is not None:
        return execute(node.body if is_true else node.orelse, state)
    return fork(node.body, node.orelse, state)


def fork(body: list[ast.stmt], other: list[ast.stmt], state: State) -> Outcome:
    """Evaluate two branches of which one is taken, and join what is known after each."""
    stored = state.copied()
    first = _attempted(body, state)
    after = {"names": state.names, "scopes": state.scopes}
    state.restore(stored)
    second = _attempted(other, state)
    alternative = {"names": state.names, "scopes": state.scopes}
    if isinstance(first, ViolationError) and isinstance(second, ViolationError):
        state.restore(after)
        raise first
    if isinstance(first, ViolationError):
        assert isinstance(second, Outcome)
        _replace(after, alternative, state)
        return second
    if isinstance(second, ViolationError):
        state.restore(after)
        return first
    ended = [each for each in (first, second) if each.end != "next"]
    maybe = [*first.maybe, *second.maybe]
    doubt = first.is_doubtful or second.is_doubtful
    if len(ended) == 2 and first.end == second.end:
        _merge(after, alternative, state)
        return Outcome(first.end, joined(first.value, second.value), maybe, doubt)
    if not ended:
        _merge(after, alternative, state)
        return Outcome("next", Known(None), maybe, doubt)
    if len(ended) == 2:
        _merge(after, alternative, state)
        return Outcome("return", Unknown(), maybe, True)
    if first.end == "next":
        state.restore(after)
    else:
        _replace(after, alternative, state)
    if ended[0].end == "return":
        maybe.append(ended[0].value)
    return Outcome("next", Known(None), maybe, True)


def _attempted(body: list[ast.stmt], state: State) -> Outcome | ViolationError:
    try:
        return execute(body, state)
    except ViolationError as violation:
        return violation


def _replace(after: dict[str, Any], alternative: dict[str, Any], state: State) -> None:
    """Take the names of the alternative into the dictionaries that closures hold."""
    for mine, theirs in _scopes(after, alternative):
        mine.clear()
        mine.update(theirs)
    state.restore(after)


def _merge(after: dict[str, Any], alternative: dict[str, Any], state: State) -> None:
    for mine, theirs in _scopes(after, alternative):
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if name.startswith("<"):
                continue
            if name in mine and name in theirs:
                mine[name] = joined(mine[name], theirs[name])
            else:
                mine[name] = Unknown()
    state.restore(after)


def _scopes(
    after: dict[str, Any], alternative: dict[str, Any]
) -> list[tuple[dict[str, Value], dict[str, Value]]]:
    pairs = [(after["names"], alternative["names"])]
    return [*pairs, *zip(after["scopes"], alternative["scopes"], strict=False)]


def _try(node: ast.Try, state: State) -> Outcome:
    try:
        outcome = execute(node.body, state)
        if outcome.end == "next" and node.orelse:
            outcome = execute(node.orelse, state)
    except ViolationError as violation:
        outcome = _handled(node, violation, state)
    if node.finalbody:
        ended = execute(node.finalbody, state)
        if ended.end != "next":
            return ended
    return outcome


def _handled(node: ast.Try, violation: ViolationError, state: State) -> Outcome:
    for handler in node.handlers:
        kinds: list[ast.expr] = []
        if isinstance(handler.type, ast.Tuple):
            kinds = handler.type.elts
        elif handler.type is not None:
            kinds = [handler.type]
        names = [ast.unparse(kind).rpartition(".")[2] for kind in kinds]
        if not kinds or any(is_caught(violation.exception, name) for name in names):
            if handler.name:
                bind(handler.name, Unknown(), state)
            return execute(handler.body, state)
    raise violation


def _match(node: ast.Match, state: State) -> Outcome:
    evaluate(node.subject, state)
    body = [case.body for case in node.cases]
    result = Outcome("next")
    for each in body:
        result = fork(each, [], state)
    return Outcome("next", Known(None), result.maybe, True)


HANDLERS: Final[dict[type[ast.stmt], Callable[[Any, State], Outcome | None]]] = {
    ast.If: _if,
    ast.Try: _try,
    ast.Match: _match,
}
