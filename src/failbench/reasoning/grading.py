"""Grading: whether what a model wrote answers a problem, and rightly."""

from __future__ import annotations

from failbench.reasoning.problems import BEFORE_ANSWER, Problem
from failbench.reasoning.traces import Outcome


def outcome(problem: Problem, text: str, *, is_ended: bool) -> Outcome:
    """How an answer ended."""
    if not is_ended:
        return "truncated"
    _, mark, answer = text.rpartition(BEFORE_ANSWER)
    return "correct" if mark and answer == problem.answer else "wrong"
