"""The cache of answers: one line of JSON each, as the model wrote it, kept as soon as it is there.

A line holds the model's own words and not what was read from them, so that a study reads every
answer by one rule. It has no time and no path in it: the same answers are the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from failbench.errors import BadInputError
from failbench.files import write_atomically
from failbench.methods.llm.settings import LlmModel
from failbench.records import Record
from failbench.validation import validated

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

REMEDY = "Restore it from git, or delete it and ask again with `make llm`."


class CachedAnswer(Record):
    """What one model wrote about one prompt.

    Attributes
    ----------
    prompt
        Hash of messages, schema and options; see :func:`failbench.methods.llm.prompt.prompt_hash`.
    model, digest
        Name of the model, and the digest of its files as the server gave it.
    text
        What the model wrote, unchanged.
    done_reason
        What the server says of the end of it.
    attempt
        How many attempts came before it, which failed or could not be read; each raises the seed
        by one.
    client
        Version of the client that asked.
    """

    prompt: Sha256
    model: str
    digest: Sha256
    text: str
    done_reason: str | None
    attempt: int = Field(ge=0)
    client: str


@dataclass(frozen=True)
class LlmCache:
    """A cache file as it was read.

    Attributes
    ----------
    answers
        In the order in which they were given.
    torn
        Whether a last line was dropped because whoever wrote it did not come to its end.
    """

    answers: tuple[CachedAnswer, ...] = ()
    torn: bool = False

    def of_model(self, model: LlmModel) -> Mapping[str, CachedAnswer]:
        """Answers of one model by prompt; of equal prompts the last one.

        Where no digest is asked for, those of the digest that answered last are taken: answers of
        two models are never mixed.
        """
        fitting = [one for one in self.answers if model.is_digest(one.digest)]
        if not fitting:
            return {}
        digest = fitting[-1].digest
        return {one.prompt: one for one in fitting if one.digest == digest}


def cache_path(folder: Path, label: str) -> Path:
    """The file of a model, by its label in params.yaml."""
    return folder / f"{label}.jsonl"


def read_cache(path: Path) -> LlmCache:
    """Read a cache; a file that is not there is an empty one.

    Raises
    ------
    BadInputError
        If the file cannot be read, or a line is no answer. A last line without its end of line is
        not one of these: it is dropped.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return LlmCache()
    except OSError as error:
        raise BadInputError(
            path, "(file)", f"cannot be read ({error.strerror}).", REMEDY
        ) from error
    *lines, rest = content.split(b"\n")
    answers = tuple(_answer(path, number, line) for number, line in enumerate(lines, start=1))
    return LlmCache(answers, torn=bool(rest))


def _answer(path: Path, number: int, line: bytes) -> CachedAnswer:
    place = f"{path}:{number}"
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise BadInputError(place, "(line)", "is not JSON.", REMEDY) from error
    return validated(CachedAnswer, raw, place, REMEDY)


def append_answer(path: Path, answer: CachedAnswer) -> None:
    """Add an answer to a cache whose last line is whole, and wait until the disk has it.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
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
            "Free space or mend the folder's rights; the answers in it are kept.",
        ) from error


def rewrite_cache(path: Path, cache: LlmCache) -> None:
    """Write a whole cache anew, without the torn line that it was read with."""
    content = b"".join(map(_line, cache.answers))
    write_atomically(path, content, "Free space; what was there is untouched.")


def _line(answer: CachedAnswer) -> bytes:
    return json.dumps(answer.model_dump(), sort_keys=True).encode() + b"\n"
