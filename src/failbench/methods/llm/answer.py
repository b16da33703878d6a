"""What is sent to a model (two messages, and the fence around data in them), and its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

from pydantic import Field, ValidationError

from failbench.base.records import Record
from failbench.base.vocabulary import Category

MARK_LENGTH = 16


@dataclass(frozen=True)
class Chat:
    """The two messages to a model."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages as a chat."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


def request_hash(chat: Chat, schema: Mapping[str, Any], options: Mapping[str, float | int]) -> str:
    """SHA-256 of everything but the model that an answer depends on."""
    request = {"messages": chat.messages, "format": schema, "options": options}
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def fence_mark(text: str) -> str:
    """A mark not in ``text``: the start of a hash of all of it, so that no text can contain it."""
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\n{text}".encode()).hexdigest()[:MARK_LENGTH]
        if mark not in text:
            return mark
        attempt += 1


def visible(text: str) -> str:
    r"""Text with visible control characters and without the special tokens of a chat template.

    Non-printing characters other than line ends are written as Python escapes them: control
    characters, marks of the writing direction, lone surrogates. A backslash is inserted into
    ``<|``, ``<s>``, ``[INST]`` and ``<<SYS>>`` (the special tokens that Meta and Mistral document
    for Llama 3 and Mistral 7B), as a server may parse these within a text.

    >>> visible("a\x1b[0m\r\n<|eot_id|> [/INST] </s>")
    'a\\x1b[0m\\r\n<\\|eot_id|> [\\/INST] <\\/s>'
    """
    shown = "".join(
        character
        if character == "\n" or character.isprintable()
        else character.encode("unicode_escape").decode()
        for character in text
    )
    for opening, markers in TEMPLATE_MARKS.items():
        for mark in markers:
            shown = shown.replace(opening + mark, f"{opening}\\{mark}")
    return shown


TEMPLATE_MARKS: Mapping[str, Iterable[str]] = {
    "<": ("|", "s>", "/s>", "<SYS>", "</SYS>"),
    "[": ("INST]", "/INST]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]", "TOOL_"),
}


def abbreviated(text: str, limit: int) -> str:
    """Text of at most ``limit`` characters, with a note in place of the middle.

    The kind of error comes first and what raised it last, so two thirds are kept of the start and
    one third of the end.

    >>> abbreviated("abcdefghijkl", 6)
    'abcd [6 characters left out] kl'
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [{len(text) - limit} characters left out] {text[-tail:]}"


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
