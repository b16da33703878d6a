"""The answer that came out of a sandbox, read as what it is: written by whoever ran there."""

from __future__ import annotations

import json
from typing import Final

from pydantic import Field, ValidationError

from failbench.crashes.dry_run.limits import Limits
from failbench.crashes.dry_run.sandbox import Outcome
from failbench.crashes.prediction import CrashPrediction
from failbench.records import Record

LINES: Final = 1_000_000
REASON: Final = 400


class Answer(Record):
    """What may be answered.

    Attributes
    ----------
    crash, exception, reason, line
        As of :class:`failbench.crashes.prediction.CrashPrediction`.
    """

    crash: bool | None
    exception: str | None = Field(pattern=r"^[^\W\d]\w{0,99}$")
    reason: str = Field(max_length=REASON)
    line: int | None = Field(ge=1, le=LINES)


def read_answer(outcome: Outcome, limits: Limits) -> CrashPrediction:
    """The prediction of a dry run; an abstention if it reached a limit or its answer is none."""
    if outcome.ended == "time":
        return _abstention(f"The dry run did not end within {limits.seconds:g} seconds.")
    if outcome.ended == "memory":
        return _abstention("The dry run held more memory than its limit.")
    if not outcome.answer:
        return _abstention("The process of the dry run ended without an answer.")
    try:
        answer = Answer.model_validate(json.loads(outcome.answer), strict=True)
        reason = "".join(sign if sign.isprintable() else " " for sign in answer.reason)
        return CrashPrediction(answer.crash, answer.exception, reason, answer.line)
    except (ValueError, ValidationError, RecursionError):
        return _abstention("What the dry run answered is no answer.")


def _abstention(reason: str) -> CrashPrediction:
    return CrashPrediction(None, None, reason)
