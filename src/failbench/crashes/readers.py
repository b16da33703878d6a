"""Prompts that anybody can have a reader answer, a model or a person, and the answers taken in."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_rows
from failbench.crashes.cases import Case
from failbench.crashes.language import CrashAgentsSettings, exception_name, prompt_of
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Arm
from failbench.methods.llm.answer import Chat
from failbench.notebooks.corpus import VERSIONS, Part, Version

REMEDY: Final = "Take answers in with `failbench crashes --answers`, to prompts of this commit."
KEY: Final = ("pair", "version", "arm")
Slot = tuple[Version, Arm]
SLOTS: Final[tuple[Slot, ...]] = tuple((version, arm) for arm in ARMS for version in VERSIONS)


class Answer(Record):
    """A row of a reader's answers."""

    prompt_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    crash: bool
    exception: str = ""
    line: int | Literal[""] = ""
    explanation: str = ""


class Kept(Answer):
    """An answer beside the question that it is to."""

    pair: str = Field(min_length=1)
    version: Version
    arm: Arm
    exposed: bool = False
    """Whether a control on the same sheet showed a kernel of this pair, as early sheets did."""


@dataclass(frozen=True)
class Prompt:
    """A prompt, and by what its answer is known."""

    chat: Chat
    sha256: str


def prompt_in(case: Case, arm: Arm, settings: CrashAgentsSettings) -> Prompt:
    """The prompt about a notebook in an arm, known by the hash of its two messages."""
    chat = prompt_of(case.ask(arm), settings)
    text = json.dumps([chat.system, chat.user])
    return Prompt(chat, hashlib.sha256(text.encode()).hexdigest())


def sheets(
    cases: Sequence[Case], part: Part, settings: CrashAgentsSettings
) -> tuple[tuple[Prompt, ...], ...]:
    """Every prompt once, on sheets that hold no pair twice.

    A Latin square: on the sheet ``s``, the pair ``p`` is asked about in slot ``(p + s) % n`` of
    versions and arms, so that a sheet has these about equally often. Of prompts of a pair that are
    equal (from code alone, in notebooks of equal code) the first is asked. Nor does a sheet have a
    pair and the one whose summary it is shown in the control, which would tell of the other.
    """
    pairs: dict[str, dict[Version, Case]] = {}
    for case in cases:
        if case.part == part:
            pairs.setdefault(case.notebook.card.pair, {})[case.version] = case
    return tuple(
        sheet for group in _apart(pairs) for sheet in _square(group, pairs, settings) if sheet
    )


def _apart(pairs: Mapping[str, Mapping[Version, Case]]) -> list[list[str]]:
    """Groups in which no pair is shown the summary of another."""
    owner = {id(case.summary): name for name, both in pairs.items() for case in both.values()}
    lends = {
        name: {owner.get(id(case.other)) for case in both.values()} for name, both in pairs.items()
    }
    groups: list[list[str]] = []
    for name in sorted(pairs, key=_hash):
        for group in groups:
            if not any(each in lends[name] or name in lends[each] for each in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _square(
    names: Sequence[str],
    pairs: Mapping[str, Mapping[Version, Case]],
    settings: CrashAgentsSettings,
) -> Iterator[tuple[Prompt, ...]]:
    filled: list[list[Prompt]] = [[] for _ in SLOTS]
    for place, name in enumerate(names):
        known: set[str] = set()
        for at, (version, arm) in enumerate(SLOTS):
            prompt = prompt_in(pairs[name][version], arm, settings)
            if prompt.sha256 not in known:
                known.add(prompt.sha256)
                filled[(at - place) % len(SLOTS)].append(prompt)
    return (tuple(sorted(sheet, key=lambda each: each.sha256)) for sheet in filled)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_sheets(folder: Path, sheets: Sequence[Sequence[Prompt]]) -> None:
    """A file for each sheet, a prompt a line; a folder that holds anything is refused."""
    if folder.exists() and any(folder.iterdir()):
        raise BadInputError(folder, "(folder)", "is not empty.", "Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for number, sheet in enumerate(sheets, start=1):
        lines = [
            json.dumps({"prompt_sha256": each.sha256, **asdict(each.chat)}, ensure_ascii=False)
            for each in sheet
        ]
        content = ("\n".join(lines) + "\n").encode()
        write_atomically(folder / f"sheet_{number:02}.jsonl", content, "Name another folder.")


def take_in(
    path: Path, cases: Sequence[Case], settings: CrashAgentsSettings
) -> list[dict[str, object]]:
    """Read answers, a JSON document a line, and name the questions that they are to."""
    answers: dict[str, Answer] = {}
    for number, row in enumerate(_read_lines(path), start=1):
        if answers.setdefault(row.prompt_sha256, row) != row:
            problem = f"row {number} answers a prompt otherwise than one before it."
            raise BadInputError(path, "prompt_sha256", problem, "Keep one of them.")
    kept = [
        answers[digest].model_dump() | {"pair": case.notebook.card.pair, "version": case.version,
                                        "arm": arm}
        for case in cases
        for arm in ARMS
        for digest in [prompt_in(case, arm, settings).sha256]
        if digest in answers
    ]  # fmt: skip
    strangers = sorted(answers.keys() - {str(row["prompt_sha256"]) for row in kept})
    if strangers:
        problem = f"{strangers[0]} is the hash of no prompt ({len(strangers)} of {len(answers)})."
        raise BadInputError(path, "prompt_sha256", problem, "Ask the prompts of this commit.")
    return kept


def _read_lines(path: Path) -> list[Answer]:
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(path, "(file)", f"cannot be read ({error}).", REMEDY) from error
    for number, line in enumerate(lines, start=1):
        try:
            told = {
                name: "" if value is None else value for name, value in json.loads(line).items()
            }
            rows.append(Answer.model_validate(told))
        except (ValueError, AttributeError) as error:
            problem = f"is no answer ({' '.join(str(error).split())})."
            raise BadInputError(path, f"line {number}", problem, REMEDY) from error
    return rows


def write_kept(path: Path, kept: Sequence[Mapping[str, object]]) -> None:
    """Write answers beside their questions, in order."""
    file = io.StringIO()
    columns = (*KEY, *Answer.model_fields, "exposed")
    writer = csv.DictWriter(file, columns, restval=False, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(kept, key=lambda row: [str(row[name]) for name in KEY]))
    write_atomically(path, file.getvalue().encode(), "Name a file that can be written.")


def exposed_in(path: Path) -> pl.DataFrame:
    """The questions of which a reader's sheet showed a kernel in a control."""
    rows = read_rows(path, Kept, REMEDY, KEY)
    found = [(row.pair, row.version, row.arm) for row in rows if row.exposed]
    return pl.DataFrame(found, dict.fromkeys(KEY, pl.String), orient="row")


def replay(
    path: Path, cases: Sequence[Case], settings: CrashAgentsSettings
) -> dict[Arm, dict[int, CrashPrediction]]:
    """The arms in which a reader answered all about a part, by place of the case."""
    rows = {(row.pair, row.version, row.arm): row for row in read_rows(path, Kept, REMEDY, KEY)}
    wanted = {place for place, case in enumerate(cases) if case.part == "test"}
    found: dict[Arm, dict[int, CrashPrediction]] = {}
    for arm in ARMS:
        given = {}
        for place in wanted:
            case = cases[place]
            row = rows.get((case.notebook.card.pair, case.version, arm))
            if row is None:
                continue
            if row.prompt_sha256 != prompt_in(case, arm, settings).sha256:
                problem = f"{case.notebook.card.pair!r} in arm {arm!r} was asked otherwise."
                raise BadInputError(path, "prompt_sha256", problem, REMEDY)
            given[place] = _predicted(row)
        if given.keys() == wanted:
            found[arm] = given
    return found


def _predicted(row: Answer) -> CrashPrediction:
    if not row.crash:
        return CrashPrediction(False, None, row.explanation)
    return CrashPrediction(True, exception_name(row.exception), row.explanation, row.line or None)
