"""Corpus: what was recorded of a part, as files beside its programs, as tables, and as logs."""

import csv
import io
import shutil
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_rows
from failbench.base.replay import DENSE, AnswerTable
from failbench.base.vocabulary import Category
from failbench.diagnose.fitting import KnownLog
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.signs import signs_of
from failbench.diagnose.words import counted
from failbench.field.programs import PROGRAM, How, Part, Program, read_programs
from failbench.field.recorder import CONSOLE, WRITTEN, Recording, Run, problems, wanted_runs

NUMBERS: Final = "numbers.parquet"
RECORDED: Final = "recorded.csv"
READERS: Final = "readers.csv"
TABLE: Final = AnswerTable(
    schema=pl.Schema({
        "program": pl.String, "run": pl.String, "place": pl.Int32, "name": pl.String,
        "step": pl.Int64, "value": pl.Float64,
    }),
    key=("program", "run", "place"),
    unit=("program", "run"),
    version=(),
    remedy="Record the part again with `make record-field`.",
    options=DENSE,
)  # fmt: skip
TOKENS: Final = 5  # tokens in a row that two programs may share
_KEPT: Final = (CONSOLE, *(pattern.rpartition("/")[2] for pattern in WRITTEN))
_REMEDY: Final = "Free space, or name another folder."
_RESTORE: Final = "Restore it with `git checkout`."


def publish(recording: Recording, part: Part, runs: Sequence[tuple[Program, Run]]) -> None:
    """Write what was recorded of a part beside its programs, and its two tables."""
    programs = list({program.name: program for program, _ in runs}.values())
    nearest = nearest_of_others(programs)
    rows, numbers = [], []
    for program, run in sorted(runs, key=lambda each: (each[0].name, each[1])):
        ended = recording.ended(program, run)
        found = "; ".join(problems(recording, program)) if run == "run" else ""
        name, similarity = nearest[program.name] if run == "run" else ("", "")
        facts = (ended.how, ended.seconds, ended.fingerprint, found, name, similarity)
        rows.append((program.name, run, *facts))
        logged = enumerate(recording.numbers(program, run))
        numbers += [
            {"program": program.name, "run": run, "place": place, **row} for place, row in logged
        ]
        _copy(recording.folder(program, run), program.folder / run)
    TABLE.write(recording.data / part / NUMBERS, numbers)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows((Recorded.model_fields, *rows))
    write_atomically(recording.data / part / RECORDED, text.getvalue().encode(), _REMEDY)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for pattern in _KEPT:
        for path in source.glob(pattern):
            shutil.copyfile(path, target / path.name)


def nearest_of_others(programs: Iterable[Program]) -> dict[str, tuple[str, str]]:
    """The program of another author that shares most with each, and the share (Jaccard)."""
    grams = {program.name: (program.card.author, _grams(program)) for program in programs}
    nearest = {}
    for name, (author, own) in grams.items():
        shared = (
            (len(own & theirs) / len(own | theirs), other)
            for other, (by, theirs) in grams.items()
            if by != author
        )
        share, other = max(shared, default=(0.0, ""))
        nearest[name] = other, f"{share:.3f}"
    return nearest


def _grams(program: Program) -> set[tuple[str, ...]]:
    """Tokens in a row, without comments and layout."""
    with tokenize.open(program.folder / PROGRAM) as file:
        tokens = [
            token.string
            for token in tokenize.generate_tokens(file.readline)
            if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
        ]
    return {tuple(tokens[at : at + TOKENS]) for at in range(len(tokens) - TOKENS + 1)}


class Recorded(Record):
    """How a run ended; of the failing one what its card says and it does not show."""

    program: str
    run: Run
    how: How
    seconds: float
    fingerprint: str
    problems: str
    nearest: str
    similarity: str


class Reading(Record):
    """What two blind readers make of a cause from its sentence: category, and id or ``none``."""

    program: str
    category_1: Category
    cause_1: str
    category_2: Category
    cause_2: str


def read_readings(data: Path, part: Part) -> dict[str, Reading]:
    """Readings of the causes of a part, by program."""
    path = data / part / READERS
    return {each.program: each for each in read_rows(path, Reading, _RESTORE, ["program"])}


@dataclass(frozen=True)
class Console:
    """What a run printed whose program is as its card says; its cause is the first reader's."""

    program: Program
    run: Run
    cause: str | None

    @property
    def failed(self) -> bool:
        """Whether the run has a cause to be found."""
        return self.run == "run" and self.program.card.kind != "oddity"

    @property
    def category(self) -> Category | None:
        """Of a failing run, by its author."""
        return self.program.card.category if self.failed else None

    @property
    def name(self) -> str:
        """What weighs one: a program that fails, or a run that does not."""
        return self.program.name if self.failed else f"{self.program.name} {self.run}"

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.program.folder / self.run

    def printed(self) -> bytes:
        """What the run printed."""
        path = self.folder / CONSOLE
        try:
            return path.read_bytes()
        except OSError as error:
            raise BadInputError(path, "(file)", "cannot be read.", _RESTORE) from error

    def read(self) -> Log:
        """The same as a log."""
        return read_text(CONSOLE, [self.printed()])

    def known(self) -> KnownLog:
        """The console as a log of a known cause; programs of one author are left out together."""
        log = self.read()
        return KnownLog(
            signs_of(log), self.category, self.cause, self.name, "field",
            self.program.card.author, counted(log.words), teaches_words=True,
        )  # fmt: skip


def consoles(data: Path, part: Part) -> list[Console]:
    """The consoles of a part that are as their cards say."""
    readings = read_readings(data, part)
    recorded = read_recorded(data, part)
    broken = {each.program for each in recorded if each.problems}
    programs = {each.name: each for each in read_programs(data, part)}
    if missing := {each.program for each in recorded} - programs.keys():
        problem = f"has no program {min(missing)}, of which {RECORDED} tells."
        raise BadInputError(data / part, "(folder)", problem, _RESTORE)
    found = []
    for each in recorded:
        program, reading = programs[each.program], readings.get(each.program)
        failed = each.run == "run" and program.card.kind != "oddity"
        cause = reading.cause_1 if failed and reading and reading.cause_1 != "none" else None
        if each.program not in broken:
            found.append(Console(program, each.run, cause))
    return found


def read_recorded(data: Path, part: Part) -> list[Recorded]:
    """How each run of a part ended."""
    return read_rows(data / part / RECORDED, Recorded, _RESTORE, ["program", "run"])


def known_logs(data: Path, part: Part) -> list[tuple[Program, Run, KnownLog]]:
    """The consoles of a part that are as their cards say, as logs of known causes."""
    return [(each.program, each.run, each.known()) for each in consoles(data, part)]


def unrecorded(data: Path, part: Part) -> int:
    """How many runs of a part are not recorded as their programs are now, or not read blindly."""
    kept = {(each.program, each.run): each.fingerprint for each in read_recorded(data, part)}
    read, missing = read_readings(data, part), 0
    for program, run in wanted_runs(read_programs(data, part)):
        is_kept = kept.get((program.name, run)) == program.fingerprint
        is_kept &= (program.folder / run / CONSOLE).exists()
        missing += not (is_kept and (program.card.kind == "oddity" or program.name in read))
    return missing
