"""Tools: the peers that can be run, each on a folder with the log of one run.

runmedic is run through its command line, as ``runmedic diagnose FOLDER --json``:
https://github.com/vincere-mori/runmedic (MIT). It reads TensorBoard, MLflow, Weights & Biases,
Lightning's and any other CSV, JSON lines, the Trainer's state and standard output.

training-doctor is run through its Python interface, ``Doctor().load(path).analyze()``:
https://github.com/SalahAlHaismawi/training-doctor (MIT). It reads CSV, TensorBoard and the history
of Weights & Biases; detectors are those that it runs unless told otherwise.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from failbench.neighbours.peers.mapping import SEVERITIES, compared_version, with_variant
from failbench.neighbours.peers.verdicts import Reading

RUNMEDIC: Final = "runmedic"
TRAINING_DOCTOR: Final = "training_doctor"

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    RUNMEDIC: (
        "csv",
        "json_lines",
        "key_equals",
        "lightning_bar",
        "lightning_csv",
        "mlflow",
        "nanogpt",
        "tensorboard",
        "trainer_state",
        "trainer_v5",
    ),
    TRAINING_DOCTOR: ("csv", "lightning_csv", "tensorboard"),
}
"""Formats that each peer says it reads, of those that telemetry can be written as. The history of
Weights & Biases, which training-doctor reads too, is in no folder that the library writes."""

INSTALL: Final = "Install the extra `peers`: pip install -e '.[peers]'."


@dataclass(frozen=True)
class Peer:
    """A tool that reads a folder with the log of one run."""

    name: str
    version: str
    formats: tuple[str, ...]
    read: Callable[[Path], Reading]


def installed_peers() -> tuple[Peer, ...]:
    """The peers that can be run, of the versions that are compared with."""
    return tuple(
        Peer(name, compared_version(name, package, INSTALL), FORMATS[name], read)
        for name, package, read in (
            (RUNMEDIC, "runmedic", read_by_runmedic),
            (TRAINING_DOCTOR, "training-doctor", read_by_training_doctor),
        )
    )


def read_by_runmedic(folder: Path) -> Reading:
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
    for finding in sorted(findings, key=lambda finding: SEVERITIES.index(finding["severity"])):
        causes = finding["likely_causes"] or [""]
        issue = with_variant(RUNMEDIC, finding["check"], causes[0])
        worst.setdefault(issue, finding["severity"])
    return Reading(tuple(worst), tuple(worst.values()))


def read_by_training_doctor(folder: Path) -> Reading:
    """What training-doctor says of the logs in a folder.

    Its loader of CSV is told that steps stand in ``step``: where a file has an ``epoch`` too, it
    takes one of the two for the step, and which one differs from process to process.
    """
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
    return Reading(
        tuple(diagnosis.detector_name for diagnosis in found),
        tuple(diagnosis.severity.value for diagnosis in found),
        tuple(round(float(diagnosis.confidence), 6) for diagnosis in found),
    )


def _rank(diagnosis: Any) -> tuple[int, float, int]:
    """The most severe first, then the most confident, then the earliest."""
    severity = SEVERITIES.index(diagnosis.severity.value)
    return severity, -diagnosis.confidence, diagnosis.step or 0


def _failed(text: str, folder: Path) -> Reading:
    """The first line of an error, without the place where the log happened to lie."""
    return Reading(unreadable=(text.splitlines() or [""])[0].replace(str(folder), "."))
