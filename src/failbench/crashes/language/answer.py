"""The answer of a language model to a question about a crash."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from failbench.base.records import Record
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.methods.llm.answer import AnswerForm, Unreadable, read_as


class CrashAnswer(Record):
    """A model's answer, in the schema of the prompt; every key must be there."""

    crash: bool = Field(strict=True)
    exception: str | None
    line: int | None
    explanation: str


def read_crash_answer(text: str, done_reason: str | None = None) -> CrashAnswer | Unreadable:
    """Parse an answer; as :func:`failbench.methods.llm.answer.read_as`."""
    return read_as(CrashAnswer, text, done_reason)


CRASH: Final = AnswerForm(CrashAnswer.model_json_schema(), read_crash_answer)
"""The answer to a question about a crash."""


def predicted(answer: CrashAnswer | Unreadable, question: Question) -> CrashPrediction:
    """The prediction that an answer is.

    An answer that cannot be read says nothing. Of one that foresees no crash, exception and line
    are dropped; so is a line that the target does not have.
    """
    if isinstance(answer, Unreadable):
        return CrashPrediction(None, None, f"The answer cannot be read: {answer.detail}.")
    reason = " ".join(answer.explanation.split())
    if not answer.crash:
        return CrashPrediction(False, None, reason)
    lines = question.target.rstrip("\n").count("\n") + 1
    line = answer.line if answer.line is not None and 1 <= answer.line <= lines else None
    return CrashPrediction(True, exception_name(answer.exception), reason, line)


def exception_name(text: str | None) -> str | None:
    """The name of a class without its module, of what a model wrote; None if that is no name.

    >>> exception_name("torch.cuda.OutOfMemoryError: tried to"), exception_name("none that I know")
    ('OutOfMemoryError', None)
    """
    name = (text or "").partition(":")[0].partition("(")[0].strip().rpartition(".")[2]
    return name if name.isidentifier() and name not in ("None", "null") else None
