"""Raised: an exception of a step as a finding, with its module and its root cause."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Final

from failbench.causes.catalogue import advice, causes
from failbench.messages.catalogue import message_of
from failbench.preflight.findings import Finding, finding

UNKNOWN_MEANING: Final = "This is what the code says when it is gone through with this batch."
UNKNOWN_ADVICE: Final = "Read the place that is named; nothing of the model was changed by looking."


def text_of(error: BaseException) -> str:
    """An exception with its class, as the last line of a traceback of a real step has it.

    >>> text_of(ValueError("too long"))
    'ValueError: too long'
    """
    name = type(error).__name__
    return f"{'RuntimeError' if name.startswith('FakeTensor') else name}: {error}"


def raised_finding(
    error: BaseException, phase: str, names: Mapping[int, str], cause: str | None = None
) -> Finding:
    """What an exception says."""
    message = message_of(type(error).__name__, str(error))
    if cause is None and message is not None:
        cause = message.causes[0]
    return finding(
        "step_raises",
        where=place_of(error.__traceback__, names),
        cause=cause,
        error=text_of(error),
        phase=phase,
        meaning=message.meaning if message else _meaning(cause),
        advice=advice()[cause].remedies[0].change if cause else UNKNOWN_ADVICE,
    )


def _meaning(cause: str | None) -> str:
    return UNKNOWN_MEANING if cause is None else f"{causes()[cause].title}."


def place_of(traceback: TracebackType | None, names: Mapping[int, str]) -> str:
    """Name of the innermost module that a traceback goes through; empty where it meets none."""
    place = ""
    while traceback is not None:
        place = names.get(id(traceback.tb_frame.f_locals.get("self")), place)
        traceback = traceback.tb_next
    return place
