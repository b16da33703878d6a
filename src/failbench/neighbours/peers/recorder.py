"""Recorder: gives logs of the benchmark's runs to installed peers, and keeps what they say.

Logs are as generous as a format can be, with every signal at every step up to the end of the run:
users log less, so that what a peer makes of them is the best that can be asked of it.

runmedic (https://github.com/vincere-mori/runmedic, MIT) is run by its command line,
training-doctor (https://github.com/SalahAlHaismawi/training-doctor, MIT) by its Python interface.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.base.replay import Replay
from failbench.base.telemetry import Telemetry
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.text import read_text
from failbench.neighbours.peers import verdicts
from failbench.neighbours.rendering.formats import rendered, write_files
from failbench.neighbours.rendering.run import complete_shape, logged_run

KINDS: Final = ("failure", "twin", "success")  # of runs; remedies belong to a study of their own
EVERY: Final = 100  # answers between two writes of the table: so many are lost at most
# the first seed with which users' names of metrics are those that the peers document: ``step``,
# ``loss``, ``grad_norm``, ``lr``, ``eval_loss``, and for runmedic a memory and a throughput that
# it knows
SEED: Final = 3006
# the first seeds with which names are those of the Trainer, which both peers know, and with which
# its state has all digits and is saved most often
SEEDS: Final[dict[str, int]] = {"tensorboard": 11, "trainer_state": 5}
Files = Mapping[str, bytes]  # a log: contents by names, which may have folders before them


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
    with Replay(verdicts.VERDICT_TABLE, path, EVERY) as replay:
        replay.drop_strangers(lambda row: (row["run_id"], row["format"], row["peer"]) in units)
        for done, (run, form) in enumerate(product(runs, formats), start=1):
            files = render(run, form)
            digest = digest_of(files)
            for peer in peers:
                unit = (run, form, peer.name)
                if unit in units and not replay.has(unit, [(peer.version, digest)]):
                    reading = _reading(files, peer)
                    replay.keep([verdicts.verdict_row(*unit, peer.version, digest, reading)])
            progress(done, len(runs) * len(formats))
    return verdicts.VERDICT_TABLE.read(path)


def record_outside(path: Path, logs: Mapping[str, Mapping[str, bytes]]) -> None:
    """Ask every peer about what others' programs printed, by corpora; others' answers stay."""
    known = verdicts.OUTSIDE_TABLE.read(path).to_dicts() if path.exists() else []
    rows, peers = [row for row in known if row["corpus"] not in logs], installed_peers()
    for corpus, texts in logs.items():
        for (name, text), peer in product(texts.items(), peers):
            reading = _reading(_readable_by(peer, text), peer)
            verdict = verdicts.verdict_row(name, corpus, peer.name, peer.version, "", reading)
            said = verdict | verdicts.answer(verdicts.standards()[peer.name], verdict)
            said |= {"corpus": corpus, "log": name}
            rows.append({each: said[each] for each in verdicts.OUTSIDE_TABLE.schema})
    verdicts.OUTSIDE_TABLE.write(path, rows)


def _readable_by(peer: Peer, text: bytes) -> Files:
    """A printed log; training-doctor reads none, and gets the numbers that our reader finds."""
    if peer.name == RUNMEDIC:
        return {"console.log": text}
    rows = read_text("console.log", [text]).frame()
    table = rows.select(
        pl.int_range(pl.len()).alias("step") if rows["step"].null_count() else "step",
        pl.when(split="train").then("loss").alias("loss"),
        pl.when(split="validation").then("loss").alias("eval_loss"),
        pl.col("learning_rate").alias("lr"),
        "grad_norm",
    )
    return {} if table.is_empty() else {"metrics.csv": table.write_csv().encode()}


def digest_of(files: Files) -> str:
    """First 16 hex digits of SHA-256 of names and contents, whatever their order."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()[:16]


def _reading(files: Files, peer: Peer) -> verdicts.Reading:
    """What a peer says of a log, which lies in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(files, Path(folder))
        reading = peer.read(Path(folder))
    for issue in reading.issues:
        if (peer.name, issue) not in verdicts.mapping():
            raise ValueError(f"{peer.name} reports {issue!r}, which data/mapping.csv lacks.")
    unreadable = None if reading.unreadable is None else clean(reading.unreadable)
    return verdicts.Reading(reading.issues, reading.severities, reading.confidences, unreadable)


RUNMEDIC: Final = "runmedic"
TRAINING_DOCTOR: Final = "training_doctor"

# formats that each peer says it reads, of those that telemetry can be written as. The history of
# Weights & Biases, which training-doctor reads too, is in no folder that the library writes.
FORMATS: Final[dict[str, tuple[str, ...]]] = {
    RUNMEDIC: (
        *("csv", "json_lines", "key_equals", "lightning_bar", "lightning_csv", "mlflow"),
        *("nanogpt", "tensorboard", "trainer_state", "trainer_v5"),
    ),
    TRAINING_DOCTOR: ("csv", "lightning_csv", "tensorboard"),
}
INSTALL: Final = "Install the extra `peers`: pip install -e '.[peers]'."


@dataclass(frozen=True)
class Peer:
    """A tool that reads a folder with the log of one run."""

    name: str
    version: str
    formats: tuple[str, ...]
    read: Callable[[Path], verdicts.Reading]


def installed_peers() -> tuple[Peer, ...]:
    """The peers that can be run, of the versions that are compared with."""
    return tuple(
        Peer(name, verdicts.compared_version(name, package, INSTALL), FORMATS[name], read)
        for name, package, read in (
            (RUNMEDIC, "runmedic", read_by_runmedic),
            (TRAINING_DOCTOR, "training-doctor", read_by_training_doctor),
        )
    )


def read_by_runmedic(folder: Path) -> verdicts.Reading:
    """What runmedic says of the logs in a folder."""
    main = import_module("runmedic.cli").main
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(io.StringIO()):
            main(["diagnose", str(folder), "--json"])
    except SystemExit as end:
        return _failed(str(end.code), folder)
    except Exception as error:  # whatever it fails with is what is recorded of it
        return _failed(f"{type(error).__name__}: {error}", folder)
    findings: list[dict[str, Any]] = [
        finding for run in json.loads(said.getvalue()) for finding in run["findings"]
    ]
    worst: dict[str, str] = {}
    severity = verdicts.SEVERITIES.index
    for finding in sorted(findings, key=lambda finding: severity(finding["severity"])):
        causes = finding["likely_causes"] or [""]
        issue = verdicts.with_variant(RUNMEDIC, finding["check"], causes[0])
        worst.setdefault(issue, finding["severity"])
    return verdicts.Reading(tuple(worst), tuple(worst.values()))


def read_by_training_doctor(folder: Path) -> verdicts.Reading:
    """What it says of a folder; steps are named, as of ``step`` and ``epoch`` it takes either."""
    package = import_module("training_doctor")
    tables = sorted(folder.rglob("*.csv"))
    try:
        doctor = package.Doctor()
        if tables:
            loader = import_module("training_doctor.loaders").CSVLoader(step_column="step")
            loader.load(tables[0], doctor.store)
        else:
            doctor.load(folder)
        diagnoses: list[Any] = doctor.analyze()
    except Exception as error:  # whatever it fails with is what is recorded of it
        return _failed(f"{type(error).__name__}: {error}", folder)
    # it looks again at every step: of each detector the answer that it is most sure of counts
    best: dict[str, Any] = {}
    for diagnosis in diagnoses:
        known = best.get(diagnosis.detector_name, diagnosis)
        best[diagnosis.detector_name] = min(known, diagnosis, key=_rank)
    found = sorted(best.values(), key=_rank)
    return verdicts.Reading(
        tuple(diagnosis.detector_name for diagnosis in found),
        tuple(diagnosis.severity.value for diagnosis in found),
        tuple(round(float(diagnosis.confidence), 6) for diagnosis in found),
    )


def _rank(diagnosis: Any) -> tuple[int, float, int]:
    """The most severe first, then the most confident, then the earliest."""
    severity = verdicts.SEVERITIES.index(diagnosis.severity.value)
    return severity, -diagnosis.confidence, diagnosis.step or 0


def _failed(text: str, folder: Path) -> verdicts.Reading:
    """The first line of an error, without the place where the log happened to lie."""
    return verdicts.Reading(unreadable=(text.splitlines() or [""])[0].replace(str(folder), "."))
