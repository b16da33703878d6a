"""Recorder: gives rendered logs to peers and keeps what they say."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.replay import Replay
from failbench.diagnose.readers.lines import clean
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, Reading

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
    """Ask every peer about every run in each of its formats, and write the table of verdicts."""
    formats = sorted({form for peer in peers for form in peer.formats})
    units = {(run, form, peer.name) for run in runs for peer in peers for form in peer.formats}
    with Replay(VERDICT_TABLE, path, EVERY) as replay:
        replay.drop_strangers(lambda row: (row["run_id"], row["format"], row["peer"]) in units)
        for done, (run, form) in enumerate(product(runs, formats), start=1):
            files = render(run, form)
            digest = digest_of(files)
            for peer in peers:
                unit, version = (run, form, peer.name), (peer.version, digest)
                if form in peer.formats and not replay.has(unit, [version]):
                    replay.keep([_row(run, form, peer, digest, _reading(files, peer))])
            progress(done, len(runs) * len(formats))
    return VERDICT_TABLE.read(path)


def digest_of(files: Files) -> str:
    """First 16 hex digits of SHA-256 of names and contents, whatever their order."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()[:16]


def _reading(files: Files, peer: Peer) -> Reading:
    """What a peer says of a log, which lies in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return peer.read(Path(folder))


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
