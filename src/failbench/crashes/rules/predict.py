"""Prediction by rules: code is evaluated over what is known of its values, never executed."""

from __future__ import annotations

import ast
import warnings

import numpy as np

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.crashes.rules.evaluation import calls
from failbench.crashes.rules.evaluation.statements import execute
from failbench.crashes.rules.knowledge.state import STEPS, State
from failbench.crashes.rules.knowledge.syntax import bound_names, parsed
from failbench.crashes.rules.knowledge.values import Unknown
from failbench.crashes.rules.knowledge.violation import ExhaustedError, ViolationError
from failbench.crashes.rules.told.refinement import refined

NOTHING = CrashPrediction(False, None, "No rule finds a violation.")

FAILURES = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
    RecursionError, NotImplementedError)  # fmt: skip
"""What a rule may raise over a value that it was not written for; the rule then does not apply."""


def predict(question: Question) -> CrashPrediction:
    """Say whether a rule is certain to be violated in the target.

    Parameters
    ----------
    question
        The cells before the target are evaluated for what they bind; what a summary tells goes
        before what they say.

    Returns
    -------
    CrashPrediction
        A crash with the exception, the reason and the line, or no crash: rules do not abstain.
    """
    try:
        target = parsed(question.target)
    except SyntaxError as error:
        return CrashPrediction(
            True, type(error).__name__, "The cell is no Python.", error.lineno or 1
        )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        state = before(question)
        try:
            execute(target.body, state)
        except ViolationError as violation:
            reason = violation.reason[:500]
            return CrashPrediction(True, violation.exception, reason, state.line)
        except (ExhaustedError, *FAILURES):
            return NOTHING
    return NOTHING


def before(question: Question) -> State:
    """The state that the cells before the target leave, and that a summary tells of."""
    state = State(caller=calls.call)
    for source in question.executed:
        follow(source, state)
    if question.summary is not None:
        for name in question.summary.absent:
            state.names.pop(name, None)
        for name, entry in question.summary.names.items():
            try:
                state.names[name] = refined(state.names.get(name), entry)
            except FAILURES:
                state.names[name] = Unknown()
    state.left, state.line = STEPS, 1
    return state


def follow(source: str, state: State) -> None:
    """Evaluate a cell that did not raise: where a rule says it did, the rule knows too little."""
    try:
        body = parsed(source).body
    except SyntaxError:
        state.is_complete = False
        return
    for statement in body:
        state.left = STEPS // 4
        try:
            execute([statement], state)
        except (ViolationError, ExhaustedError, *FAILURES):
            state.scopes, state.depth, state.without_grad = [], 0, 0
            for name in _bound(statement):
                state.names[name] = Unknown()


def _bound(statement: ast.stmt) -> frozenset[str]:
    holder = ast.FunctionDef("cell", ast.arguments([], [], None, [], [], None, []), [statement], [])
    return bound_names(holder)
