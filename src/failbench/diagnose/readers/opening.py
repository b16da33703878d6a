"""Opening a log: a file, a folder or standard input, whatever format it has."""

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from failbench.base.errors import BadInputError
from failbench.diagnose.readers import folders, records
from failbench.diagnose.readers.lines import chunks_of, decoded, is_text, lines_of
from failbench.diagnose.readers.log import Log, Source, joined
from failbench.diagnose.readers.numbers import NO_NUMBERS
from failbench.diagnose.readers.records import NAMED, is_event_file, read_events
from failbench.diagnose.readers.text import NO_HINTS, Hints, read_text
from failbench.monitor.history import read_history
from failbench.monitor.log import LINES

STANDARD_INPUT: Final = "-"

# of files that are read in a folder; one that is named itself may have any name
_TEXT_SUFFIXES: Final = frozenset(
    {".log", ".txt", ".out", ".err", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".md", ".ipynb"}
)

_TAR: Final = b"ustar"  # behind the name of its first file
# how files begin that hold no text, what they are, and what to do about it
_UNPACK: Final = "Unpack it and name what is inside: nothing is unpacked here."
_COPY: Final = "Copy the text out of it into a file: letters are not read from pictures and pages."
_NAME: Final = "Name a log, or export its content as text, CSV or JSON."
_EXPORT: Final = (
    "Export the run as CSV or JSON; of MLflow, MlflowClient().get_metric_history has its metrics."
)
_NO_TEXT: Final = (
    ("is an archive or compressed.", _UNPACK, (
        b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd",
        b"\x04\x22\x4d\x18", b"Rar!", b"7z\xbc\xaf", _TAR,
    )),
    ("is a picture or a page.", _COPY, (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF")),
    ("is a database of SQLite.", _EXPORT, (b"SQLite format 3\0",)),
    ("is not text.", _NAME, (b"\x93NUMPY", b"PAR1", b"\x7fELF")),
)  # fmt: skip


def read_log(path: Path, run: str | None = None, hints: Hints = NO_HINTS) -> Log:
    """Read the log of a run.

    Parameters
    ----------
    path
        A file of any text, a monitor's folder, a folder with logs somewhere below it, or ``-`` for
        standard input. Links below a folder are not followed. Of several runs that a library keeps
        in one folder the newest is read (``failbench.diagnose.readers.folders``).
    run
        Of a folder of recorded telemetry, which run.
    hints
        How numbers of a text are read where it can be read in several ways.

    Raises
    ------
    BadInputError
        If there is nothing there, nothing that can be read as text, or several runs of which none
        is known to be the newest.
    """
    if str(path) == STANDARD_INPUT:
        return _told(_read_stream(STANDARD_INPUT, sys.stdin.buffer, hints), path)
    try:
        if path.is_dir():
            return _read_folder(path, run, hints)
        if path.name == LINES:
            return records.log_of_history(path.name, read_history(path.parent))
        return _told(_read_file(path, path.name, hints), path)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})."
        remedy = "Name a log that is there, or a folder of which all may be read."
        raise BadInputError(error.filename or path, "(file)", problem, remedy) from error


def _told(log: Log, path: Path) -> Log:
    """A log of a text in which something stands."""
    if log.is_empty and not log.words and log.sources[0].format == "text":
        remedy = "Name what the training wrote to; of a command, `2>&1` keeps its errors, too."
        raise _UnreadableError(path, "is empty, or has blank lines alone.", remedy)
    return log


def _read_folder(folder: Path, run: str | None, hints: Hints) -> Log:
    if folders.is_own_file(folder / records.RUNS):
        return records.read_recorded(folder, run)
    if folders.is_own_file(folder / LINES):
        return records.log_of_history(folder.name, read_history(folder))
    paths, notes = folders.chosen_run(folder, folders.files_below(folder))
    parts = [*_parts(folder, paths, hints)]
    if all(part.is_empty for part in parts):
        why = " ".join(note for part in parts for note in part.sources[0].notes)
        problem = f"contains no log that can be read. {why}".rstrip()
        endings = ", ".join(sorted(_TEXT_SUFFIXES))
        remedy = f"Name the file itself, or a folder with one that ends with {endings}."
        raise BadInputError(folder, "(folder)", problem, remedy)
    first, *others = parts
    source, *rest = first.sources
    source = replace(source, notes=(*notes, *folders.notes_on_overlap(parts), *source.notes))
    return joined((replace(first, sources=(source, *rest)), *others))


def _parts(folder: Path, paths: list[Path], hints: Hints) -> Iterator[Log]:
    """The logs among files; those of which nothing is known are left out."""
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            part = _part(folder, path, name, hints)
        except FileNotFoundError:  # a training that goes on removes old checkpoints
            continue
        except _UnreadableError as error:
            source = Source(name, "not read", 0, (f"{name} {error.problem}",))
            yield Log((source,), NO_NUMBERS, ())
            continue
        if part is not None and not part.is_empty:
            yield part


def _part(folder: Path, path: Path, name: str, hints: Hints) -> Log | None:
    if path.name == LINES:
        return records.log_of_history(name, read_history(path.parent))
    home = folders.run_of_metric(folder, path)
    if home is not None:
        key = path.relative_to(home / folders.METRICS).as_posix()  # which may have slashes
        with path.open("rb") as stream:
            return records.read_metric(name, key, lines_of(chunks_of(stream)))
    if path.suffix in _TEXT_SUFFIXES or NAMED in path.name:
        return _read_file(path, name, hints)
    return None


def _read_file(path: Path, name: str, hints: Hints) -> Log:
    """Read a file; a pipe is read as far as somebody writes to it."""
    # Without the flag, opening a pipe waits for somebody who writes to it.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123
        mode = os.fstat(stream.fileno()).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise _UnreadableError(path, "is a device, and no file.", "Name a log that is a file.")
        os.set_blocking(stream.fileno(), True)
        return _read_stream(name, stream, hints, path)


class _UnreadableError(BadInputError):
    """What a file holds is no log; beside others in a folder it is left out."""

    def __init__(self, place: object, problem: str, remedy: str) -> None:
        super().__init__(place, "(file)", problem, remedy)


def _read_stream(name: str, stream: BinaryIO, hints: Hints, path: Path | None = None) -> Log:
    """Read bytes as what they are: events, a document of JSON, or text."""
    place = name if path is None else path
    chunks = chunks_of(stream)
    head = next(chunks, b"")
    for problem, remedy, marks in _NO_TEXT:
        if (_TAR if head[257:262] == _TAR else head).startswith(marks):
            raise _UnreadableError(place, problem, remedy)
    if is_event_file(head):
        return read_events(name, chain([head], chunks))
    if not is_text(head):
        raise _UnreadableError(place, "is not text.", _NAME)
    if decoded(head).lstrip()[:1] not in ("{", "["):
        return read_text(name, chain([head], chunks), hints)
    whole = [head]
    while sum(map(len, whole)) <= records.LARGEST and (more := next(chunks, b"")):
        whole.append(more)
    document = None
    if sum(map(len, whole)) <= records.LARGEST:
        document = records.read_document(name, decoded(b"".join(whole)), hints)
    return document or read_text(name, chain(whole, chunks), hints)
