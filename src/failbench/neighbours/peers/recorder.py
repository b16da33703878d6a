"""Recorder: gives rendered logs to peers and keeps what they say."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.telemetry import write_parquet
from failbench.diagnose.readers.lines import clean
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.verdicts import KEY, VERDICT_SCHEMA, Reading, read_verdicts

EVERY: Final = 100
"""Answers after which the table is written: so many are lost at most if a recording is killed."""


@dataclass(frozen=True)
class Peer:
    """A tool that reads a folder with the log of one run."""

    name: str
    version: str
    formats: tuple[str, ...]
    read: Callable[[Path], Reading]


Files = Mapping[str, bytes]
"""A log: contents by names, which may have folders before them."""


def record(
    path: Path,
    runs: Sequence[str],
    peers: Sequence[Peer],
    render: Callable[[str, str], Files],
    progress: Callable[[int, int], None],
) -> pl.DataFrame:
    """Ask every peer about every run in each of its formats, and write the table of verdicts.

    Rows of the same peer, version and log are kept, so that a recording that was killed goes on
    where it stopped; rows that nobody asks for any more are left out.
    """
    known = _known(path)
    rows: dict[tuple[str, ...], dict[str, Any]] = dict(known)
    wanted: set[tuple[str, ...]] = set()
    formats = sorted({form for peer in peers for form in peer.formats})
    fresh = 0
    try:
        for done, (run, form) in enumerate((run, form) for run in runs for form in formats):
            files = render(run, form)
            digest = digest_of(files)
            asked = [peer for peer in peers if form in peer.formats]
            wanted |= {(run, form, peer.name) for peer in asked}
            due = [peer for peer in asked if not _same(known, run, form, peer, digest)]
            for peer, reading in _answers(files, due):
                rows[run, form, peer.name] = _row(run, form, peer, digest, reading)
            fresh += len(due)
            if fresh >= EVERY:
                _write(path, rows.values())
                fresh = 0
            progress(done + 1, len(runs) * len(formats))
    except BaseException:  # stopped by hand or by an error: what was answered is kept
        _write(path, rows.values())
        raise
    return _write(path, (row for key, row in rows.items() if key in wanted))


def digest_of(files: Files) -> str:
    """First 16 hex digits of SHA-256 of names and contents, whatever their order."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()[:16]


def _known(path: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    if not path.exists():
        return {}
    return {tuple(row[name] for name in KEY): row for row in read_verdicts(path).to_dicts()}


def _same(
    known: Mapping[tuple[str, ...], dict[str, Any]], run: str, form: str, peer: Peer, digest: str
) -> bool:
    row = known.get((run, form, peer.name))
    return row is not None and (row["version"], row["rendering"]) == (peer.version, digest)


def _answers(files: Files, peers: Sequence[Peer]) -> Iterable[tuple[Peer, Reading]]:
    """What each peer says of a log, which lies in a folder of its own for each of them."""
    for peer in peers:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                place = Path(folder, name)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            yield peer, peer.read(Path(folder))


def _row(run: str, form: str, peer: Peer, digest: str, reading: Reading) -> dict[str, Any]:
    for issue in reading.issues:
        if (peer.name, issue) not in mapping():
            raise ValueError(f"{peer.name} reports {issue!r}, which data/mapping.csv lacks.")
    return {
        "run_id": run,
        "format": form,
        "peer": peer.name,
        "version": peer.version,
        "rendering": digest,
        "issues": list(reading.issues),
        "severities": list(reading.severities),
        "confidences": list(reading.confidences),
        "unreadable": None if reading.unreadable is None else clean(reading.unreadable),
    }


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    table = pl.DataFrame(list(rows), schema=VERDICT_SCHEMA).sort(KEY)
    write_parquet(table, path)
    return table
