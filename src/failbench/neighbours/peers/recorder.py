"""Recorder: gives logs of the benchmark's runs to installed peers, and keeps what they say.

Logs are as generous as a format can be: every signal that it can have is logged at every step, in
all its digits, with the loss on held-out data; beside files of metrics lies the terminal's output,
with the traceback or what a shell says of a killed process. Nothing is cut, coloured or prefixed.
Each run is told of up to its end. Users log less than that: what a peer makes of such a log is the
best that can be asked of it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from failbench.base.replay import Replay
from failbench.base.telemetry import Telemetry
from failbench.diagnose.readers.lines import clean
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.tools import Peer, installed_peers
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, Reading, verdict_row
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import logged_run
from failbench.neighbours.rendering.shape import complete_shape

KINDS: Final = ("failure", "twin", "success")
"""Runs that peers are asked about; remedies belong to a study of their own."""

EVERY: Final = 100
"""Answers after which the table is written: so many are lost at most if a recording is killed."""

SEED: Final = 3006
"""The first seed with which users' names of metrics are those that the peers document: ``step``,
``loss``, ``grad_norm``, ``lr``, ``eval_loss``, and for runmedic a memory and a throughput that it
knows."""

SEEDS: Final[dict[str, int]] = {"tensorboard": 11, "trainer_state": 5}
"""The first seeds with which names are those of the Trainer, which both peers know, and with which
its state has all digits and is saved most often."""

Files = Mapping[str, bytes]
"""A log: contents by names, which may have folders before them."""


def record_peers(
    path: Path, telemetry: Telemetry, progress: Callable[[int, int], None]
) -> pl.DataFrame:
    """Record what the installed peers say of all runs of telemetry, remedies left out."""
    peers = installed_peers()
    asked = telemetry.select(pl.col("kind").is_in(KINDS))
    runs = asked.runs.sort("run_id")["run_id"].to_list()
    return record(path, runs, peers, renderer(asked), progress)


def renderer(telemetry: Telemetry) -> Callable[[str, str], Files]:
    """What renders the runs of telemetry, by their ids, in a format."""
    runs = {run["run_id"]: run for run in telemetry.runs.to_dicts()}
    parts = telemetry.steps.sort("run_id", "step").partition_by("run_id", as_dict=True)

    def render(run_id: str, form: str) -> Files:
        steps = parts.get((run_id,), telemetry.steps.clear())
        rng = np.random.default_rng(SEEDS.get(form, SEED))
        return rendered(logged_run(runs[run_id], steps, None), form, complete_shape(form), rng)

    return render


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
                unit = (run, form, peer.name)
                if unit in units and not replay.has(unit, [(peer.version, digest)]):
                    reading = _reading(files, peer)
                    replay.keep([verdict_row(*unit, peer.version, digest, reading)])
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
        reading = peer.read(Path(folder))
    for issue in reading.issues:
        if (peer.name, issue) not in mapping():
            raise ValueError(f"{peer.name} reports {issue!r}, which data/mapping.csv lacks.")
    unreadable = None if reading.unreadable is None else clean(reading.unreadable)
    return Reading(reading.issues, reading.severities, reading.confidences, unreadable)
