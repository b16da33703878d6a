"""The answer of a language model: its schema, and parsing the model's output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

from pydantic import Field, ValidationError

from failbench.base.records import Record
from failbench.base.vocabulary import Category

Misreading = Literal[
    "empty", "cut_off", "no_json", "several_answers", "wrong_category", "malformed"
]
"""Why an output could not be parsed."""

CUT_OFF = "length"
"""The server's ``done_reason`` of an answer that reached the maximum length."""


class EvidenceItem(Record):
    """One value that an answer rests on."""

    signal: str
    value: float | str
    step: int | None = None


class LlmAnswer(Record):
    """A model's answer to a run, in the schema of the prompt."""

    category: Category
    confidence: float = Field(ge=0, le=1)
    explanation: str
    evidence: tuple[EvidenceItem, ...]


ANSWER_SCHEMA: dict[str, Any] = LlmAnswer.model_json_schema()
"""The JSON schema that the server enforces."""


@dataclass(frozen=True)
class Unreadable:
    """An output that could not be parsed, and why. It is scored as an abstention, so as wrong."""

    reason: Misreading
    detail: str


Answer = TypeVar("Answer", bound=Record)


@dataclass(frozen=True)
class AnswerForm:
    """What a model must answer."""

    schema: Mapping[str, Any]
    read: Callable[[str, str | None], Record | Unreadable]


def read_answer(text: str, done_reason: str | None = None) -> LlmAnswer | Unreadable:
    """Parse an answer to a run; as :func:`read_as`."""
    return read_as(LlmAnswer, text, done_reason, {"category": "wrong_category"})


DIAGNOSIS: Final = AnswerForm(ANSWER_SCHEMA, read_answer)
"""The answer to a run."""


def read_as(
    kind: type[Answer],
    text: str,
    done_reason: str | None,
    misread: Mapping[str, Misreading] = MappingProxyType({}),
) -> Answer | Unreadable:
    """Parse the single JSON object in a text, ignoring prose or fences around it."""
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
        return kind.model_validate(objects[0])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return Unreadable(misread.get(field, "malformed"), f"{field}: {first['msg']}")


def _objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in a text, in order."""
    decoder = json.JSONDecoder()
    objects, start = [], text.find("{")
    while start >= 0:
        try:
            parsed, end = decoder.raw_decode(text, start)
            objects.append(parsed)
        except json.JSONDecodeError:
            end = start + 1  # a brace in prose
        start = text.find("{", end)
    return objects
