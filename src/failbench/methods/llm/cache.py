"""The cache of raw answers, a line of JSON each, without time or path, written as they arrive."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, validated
from failbench.methods.llm.settings import ServedModel

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
        raise BadInputError(
            path, "(file)", f"cannot be read ({error.strerror}).", REMEDY
        ) from error
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
        raise BadInputError(
            path,
            "(file)",
            f"cannot be written ({error.strerror}).",
            "Free space or correct the folder's permissions; the answers in it are kept.",
        ) from error


def rewrite_cache(path: Path, cache: LlmCache) -> None:
    """Rewrite a cache without the incomplete last line that it was read with."""
    content = b"".join(map(_line, cache.answers))
    write_atomically(path, content, "Free space; what was there is untouched.")


def _line(answer: CachedAnswer) -> bytes:
    return json.dumps(answer.model_dump(), sort_keys=True).encode() + b"\n"
