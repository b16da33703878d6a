"""Corpus: what was recorded of a part, as files beside its programs, as tables, and as logs."""

import csv
import io
import shutil
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_rows
from failbench.base.replay import DENSE, AnswerTable
from failbench.base.vocabulary import Category
from failbench.diagnose.known import KnownLog
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.signs import LOGIC_ONLY, signs_of
from failbench.diagnose.words import counted
from failbench.field.programs import PROGRAM, How, Part, Program, read_programs
from failbench.field.recorder import CONSOLE, WRITTEN, Recording, Run, problems, wanted_runs
from failbench.monitor.invariants import Bound

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


class Console(NamedTuple):
    """What a run printed whose program is as its card says, and what is known of it."""

    program: Program
    run: Run
    name: str  # what weighs one: a program that fails, or a run that does not
    category: Category | None  # None of a healthy run, as its cause
    cause: str | None  # the first reader's

    def printed(self) -> bytes:
        """The console."""
        path = self.program.folder / self.run / CONSOLE
        try:
            return path.read_bytes()
        except OSError as error:
            raise BadInputError(path, "(file)", "cannot be read.", _RESTORE) from error

    def read(self) -> Log:
        """The console as a log."""
        return read_text(CONSOLE, [self.printed()])

    def known(self, log: Log, corpus: str, fitted: Mapping[str, Bound] = LOGIC_ONLY) -> KnownLog:
        """A log of the run, and what is known of it."""
        author, words = self.program.card.author, counted(log.words)
        about = self.category, self.cause, self.name, corpus, author, words
        return KnownLog(signs_of(log, fitted), *about, teaches_words=True)

    def good(self) -> Log | None:
        """The log of a healthy run of the program, of another seed where one was recorded."""
        others: tuple[Run, ...] = ("other_seed", "healthy")
        for run in others:
            if run != self.run and (self.program.folder / run / CONSOLE).exists():
                return self._replace(run=run).read()
        return None


def broken_programs(data: Path, part: Part) -> set[str]:
    """Programs of a part that are not as their cards say."""
    return {each.program for each in _recorded(data, part) if each.problems}


def _recorded(data: Path, part: Part) -> Sequence[Recorded]:
    return read_rows(data / part / RECORDED, Recorded, _RESTORE, ["program", "run"])


def consoles(data: Path, part: Part) -> list[Console]:
    """The consoles of a part that are as their cards say."""
    readings, recorded = read_readings(data, part), _recorded(data, part)
    broken = {each.program for each in recorded if each.problems}
    programs = {each.name: each for each in read_programs(data, part)}
    if missing := {each.program for each in recorded} - programs.keys():
        problem = f"has no program {min(missing)}, which {RECORDED} refers to."
        raise BadInputError(data / part, "(folder)", problem, _RESTORE)
    runs = [(programs[each.program], each.run) for each in recorded if each.program not in broken]
    return [_console(program, run, readings.get(program.name)) for program, run in runs]


def _console(program: Program, run: Run, reading: Reading | None) -> Console:
    if run != "run" or program.card.kind == "oddity":
        return Console(program, run, f"{program.name} {run}", None, None)
    cause = reading.cause_1 if reading and reading.cause_1 != "none" else None
    return Console(program, run, program.name, program.card.category, cause)


def known_logs(data: Path, part: Part) -> list[tuple[Program, Run, KnownLog]]:
    """The consoles of a part that are as their cards say, as logs of known causes.

    Programs of one author are left out together.
    """
    return [
        (each.program, each.run, each.known(each.read(), "field")) for each in consoles(data, part)
    ]


def unrecorded(data: Path, part: Part) -> int:
    """How many runs of a part are not recorded as their programs are now, or have no reading."""
    recorded = read_rows(data / part / RECORDED, Recorded, _RESTORE, ["program", "run"])
    kept = {(each.program, each.run, each.fingerprint) for each in recorded}
    read, wanted = read_readings(data, part), wanted_runs(read_programs(data, part))
    return sum(
        (program.name, run, program.fingerprint) not in kept
        or not (program.folder / run / CONSOLE).exists()
        or not (program.name in read or program.card.kind == "oddity")
        for program, run in wanted
    )
