"""Opening a log: a file, a folder or standard input, whatever format it has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from failbench.errors import BadInputError
from failbench.readers import monitor_log, recorded
from failbench.readers.documents import LARGEST, read_document
from failbench.readers.event_file import NAMED, is_event_file, read_events
from failbench.readers.lines import chunks_of, lines_of
from failbench.readers.log import Log, joined
from failbench.readers.mlflow_store import is_metric, read_metric
from failbench.readers.text import read_text

STANDARD_INPUT: Final = "-"

DEEPEST: Final = 8
"""Folders below the one that is named."""

MOST_FILES: Final = 2_000
"""Files of a folder that are looked at."""

_TEXT_SUFFIXES: Final = frozenset(
    {".log", ".txt", ".out", ".err", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".md"}
)
"""Of files that are read in a folder; one that is named itself may have any name."""

_ARCHIVES: Final = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"Rar!")
"""How archives and compressed files begin."""

_UNPACK: Final = "Unpack it and name what is inside: nothing is unpacked here."
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def read_log(path: Path, run: str | None = None) -> Log:
    """Read the log of a run.

    Parameters
    ----------
    path
        A file of any text, a monitor's folder, a folder with logs somewhere below it, or ``-`` for
        standard input. Links below a folder are not followed.
    run
        Of a folder of recorded telemetry, which run.

    Raises
    ------
    BadInputError
        If there is nothing there, or nothing that can be read as text.
    """
    if str(path) == STANDARD_INPUT:
        return _read_stream(STANDARD_INPUT, sys.stdin.buffer)
    if path.is_dir():
        try:
            return _read_folder(path, run)
        except OSError as error:
            raise BadInputError(
                error.filename or path,
                "(file)",
                f"cannot be read ({error.strerror}).",
                "Name a file or folder of which all may be read.",
            ) from error
    if path.name == monitor_log.FILE:
        return monitor_log.read_monitor_log(path.name, path.parent)
    return _read_file(path, path.name)


def _read_folder(folder: Path, run: str | None) -> Log:
    if (folder / recorded.RUNS).is_file():
        return recorded.read_recorded(folder, run)
    if (folder / monitor_log.FILE).is_file():
        return monitor_log.read_monitor_log(folder.name, folder)
    parts = tuple(_parts(folder))
    if not parts:
        raise BadInputError(
            folder,
            "(folder)",
            "holds no log that can be read.",
            "Name the file itself, or a folder with one that ends with "
            + ", ".join(sorted(_TEXT_SUFFIXES))
            + ".",
        )
    return joined(parts)


def _parts(folder: Path) -> Iterator[Log]:
    """The logs of a folder; files of which nothing is known are left out."""
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if path.name == monitor_log.FILE:
            yield monitor_log.read_monitor_log(name, path.parent)
        elif path.suffix in _TEXT_SUFFIXES or NAMED in path.name:
            part = _read_file(path, name)
            if part.rows.height or part.events:
                yield part
        elif is_metric(path):
            key = name.rpartition("metrics/")[2]
            with path.open("rb") as stream:
                lines = ((line.number, line.text) for line in lines_of(chunks_of(stream)))
                metric = read_metric(name, key, lines)
            if metric is not None:
                yield metric


def _files(folder: Path) -> list[Path]:
    """Files below a folder in the order of their names; of a Trainer's states the last alone."""
    paths: list[Path] = []
    folders = [(folder, 0)]
    while folders:
        current, depth = folders.pop()
        for path in sorted(current.iterdir()):
            if path.is_symlink():
                continue
            if path.is_dir() and depth < DEEPEST:
                folders.append((path, depth + 1))
            elif path.is_file():
                paths.append(path)
        if len(paths) > MOST_FILES:
            raise BadInputError(
                folder,
                "(folder)",
                f"holds more than {MOST_FILES:,} files.",
                "Name the folder of one run.",
            )
    states = sorted((path for path in paths if path.name == "trainer_state.json"), key=_age)
    return sorted(path for path in paths if path not in states[:-1])


def _age(path: Path) -> tuple[int, int]:
    """Of a state of a Trainer: that of the folder itself is the last, else that of most steps."""
    head, _, step = path.parent.name.partition("-")
    if head != "checkpoint" or not step.isdecimal():
        return (1, 0)
    return (0, int(step[:18]))


def _read_file(path: Path, name: str) -> Log:
    try:
        with path.open("rb") as stream:
            return _read_stream(name, stream, path)
    except OSError as error:
        raise BadInputError(
            path, "(file)", f"cannot be read ({error.strerror}).", "Name a log that is there."
        ) from error


def _read_stream(name: str, stream: BinaryIO, path: Path | None = None) -> Log:
    """Read bytes as what they are: events, a document of JSON, or text."""
    place = name if path is None else path
    chunks = chunks_of(stream)
    head = next(chunks, b"")
    if head.startswith(_ARCHIVES):
        raise BadInputError(place, "(file)", "is an archive or compressed.", _UNPACK)
    if is_event_file(head):
        return read_events(name, chain([head], chunks))
    if b"\0" in head[:4096] and not head.startswith(_UTF_16):
        raise BadInputError(
            place,
            "(file)",
            "is not text.",
            "Name a log, or export what it holds as text, CSV or JSON.",
        )
    if head.lstrip()[:1] not in (b"{", b"["):
        return read_text(name, chain([head], chunks))
    whole = [head]
    while sum(map(len, whole)) <= LARGEST and (more := next(chunks, b"")):
        whole.append(more)
    document = None
    if sum(map(len, whole)) <= LARGEST:
        document = read_document(name, b"".join(whole).decode("utf-8", errors="replace"))
    return document or read_text(name, chain(whole, chunks))
