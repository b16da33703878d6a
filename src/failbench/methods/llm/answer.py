"""Answers of language models: what is asked, how answers are read, and the cache of raw ones."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, validated
from failbench.base.vocabulary import Category
from failbench.methods.llm.settings import ServedModel

MARK_LENGTH = 16


@dataclass(frozen=True)
class Chat:
    """The two messages to a model."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages as a chat."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


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
    r"""Text with control characters escaped, and a backslash in special tokens of chat templates.

    They are what Meta and Mistral document; a server may parse them within a text.

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
    """Text of at most ``limit`` characters: the kind of error comes first, what raised it last.

    >>> abbreviated("abcdefghijkl", 6)
    'abcd [6 characters left out] kl'
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]} [{len(text) - limit} characters left out] {text[-tail:]}"


Misreading = Literal[  # why an output could not be parsed
    "empty", "cut_off", "no_json", "several_answers", "wrong_category", "malformed"
]

CUT_OFF = "length"  # the server's ``done_reason`` of an answer that reached the maximum length


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


ANSWER_SCHEMA: dict[str, Any] = LlmAnswer.model_json_schema()  # which the server enforces


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


DIAGNOSIS: Final = AnswerForm(ANSWER_SCHEMA, read_answer)  # the answer to a run


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


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

REMEDY = "Restore it from git, or delete it and ask again with `make llm`."


class CachedAnswer(Record):
    """The output of one model for one prompt."""

    prompt: Sha256
    model: str
    digest: Sha256
    text: str
    done_reason: str | None
    attempt: int = Field(ge=0)
    client: str


@dataclass(frozen=True)
class LlmCache:
    """The content of a cache file."""

    answers: tuple[CachedAnswer, ...] = ()
    torn: bool = False

    def of_model(self, model: ServedModel) -> Mapping[str, CachedAnswer]:
        """Answers of one model by prompt; without a digest, those of the last answer's."""
        matching = [answer for answer in self.answers if model.is_digest(answer.digest)]
        if not matching:
            return {}
        digest = matching[-1].digest
        return {answer.prompt: answer for answer in matching if answer.digest == digest}


def cache_path(folder: Path, label: str) -> Path:
    """The file of a model, by its label in params.yaml."""
    return folder / f"{label}.jsonl"


def read_cache(path: Path) -> LlmCache:
    """Read a cache; a missing file is an empty cache."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return LlmCache()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    *lines, incomplete = content.split(b"\n")
    answers = tuple(_answer(path, number, line) for number, line in enumerate(lines, start=1))
    return LlmCache(answers, torn=bool(incomplete))


def _answer(path: Path, number: int, line: bytes) -> CachedAnswer:
    location = f"{path}:{number}"
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise BadInputError(location, "(line)", "is not JSON.", REMEDY) from error
    return validated(CachedAnswer, raw, location, REMEDY)


def append_answer(path: Path, answer: CachedAnswer) -> None:
    """Append an answer to a cache without an incomplete line, and flush it to the disk."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.write(_line(answer))
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        problem = f"cannot be written ({error.strerror})."
        remedy = "Free space or correct the folder's permissions; the answers in it are kept."
        raise BadInputError(path, "(file)", problem, remedy) from error


def rewrite_cache(path: Path, cache: LlmCache) -> None:
    """Rewrite a cache without the incomplete last line that it was read with."""
    content = b"".join(map(_line, cache.answers))
    write_atomically(path, content, "Free space; what was there is untouched.")


def _line(answer: CachedAnswer) -> bytes:
    return json.dumps(answer.model_dump(), sort_keys=True).encode() + b"\n"
