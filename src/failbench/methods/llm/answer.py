"""A language model's answer: its form, and reading it out of what the model wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, ValidationError

from failbench.records import Record
from failbench.vocabulary import Category

Misreading = Literal[
    "empty", "cut_off", "no_json", "several_answers", "wrong_category", "malformed"
]
"""Why no answer could be read."""

CUT_OFF = "length"
"""What the server says of an answer that reached its greatest length (``done_reason``)."""


class EvidenceItem(Record):
    """One value that an answer rests on."""

    signal: str
    value: float | str
    step: int | None = None


class LlmAnswer(Record):
    """What a model says of a run, in the form that it is asked for."""

    category: Category
    confidence: float = Field(ge=0, le=1)
    explanation: str
    evidence: tuple[EvidenceItem, ...]


ANSWER_SCHEMA: dict[str, Any] = LlmAnswer.model_json_schema()
"""The JSON schema that the server holds the model to."""


@dataclass(frozen=True)
class Unreadable:
    """An answer that is none, and why. It is scored as an abstention, which is never right."""

    reason: Misreading
    detail: str


def read_answer(text: str, done_reason: str | None = None) -> LlmAnswer | Unreadable:
    """Read the one JSON object in a text, whatever prose or fences stand around it.

    Parameters
    ----------
    text
        What the model wrote.
    done_reason
        What the server says of its end; ``"length"`` is an answer that was cut off.
    """
    if not text.strip():
        return Unreadable("empty", "the model wrote nothing")
    if done_reason == CUT_OFF:
        return Unreadable("cut_off", "the answer reached the greatest length")
    try:
        objects = _objects(text)
    except RecursionError:
        return Unreadable("malformed", "the JSON is nested too deeply")
    if not objects:
        return Unreadable("no_json", "there is no JSON object in the answer")
    if len(objects) > 1:
        return Unreadable("several_answers", f"there are {len(objects)} JSON objects")
    try:
        return LlmAnswer.model_validate(objects[0])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        reason: Misreading = "wrong_category" if field == "category" else "malformed"
        return Unreadable(reason, f"{field}: {first['msg']}")


def _objects(text: str) -> list[dict[str, Any]]:
    """Every JSON object in a text that lies in no other, in order."""
    decoder = json.JSONDecoder()
    found, start = [], text.find("{")
    while start >= 0:
        try:
            one, end = decoder.raw_decode(text, start)
            found.append(one)
        except json.JSONDecodeError:
            end = start + 1  # a brace in prose
        start = text.find("{", end)
    return found
