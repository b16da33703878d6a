"""Evaluation of expressions."""

from __future__ import annotations

import ast

from failbench.crashes.rules.evaluation import handlers
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def evaluate(node: ast.expr, state: State) -> Value:
    """The value of an expression.

    Raises
    ------
    ViolationError
        If it is certain to raise.
    ExhaustedError
        If there is too much to follow.
    """
    state.step()
    if state.depth == 0:
        state.line = node.lineno
    handler = handlers.expressions().get(type(node))
    return Unknown() if handler is None else handler(node, state)


def at(node: ast.expr, state: State) -> None:
    """Come back to the line of an expression after its parts were evaluated."""
    if state.depth == 0:
        state.line = node.lineno


def attempt(node: ast.expr, state: State) -> Value:
    """Evaluate what may not be evaluated at all: a violation is not certain."""
    try:
        return evaluate(node, state)
    except ViolationError:
        return Unknown()
