"""training-doctor: run through its Python interface, ``Doctor().load(path).analyze()``.

https://github.com/SalahAlHaismawi/training-doctor (MIT). It reads CSV, TensorBoard and the history
of Weights & Biases; detectors are those that it runs unless told otherwise.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from failbench.neighbours.peers.standards import SEVERITIES
from failbench.neighbours.peers.verdicts import Reading

PEER: Final = "training_doctor"


def installed_version() -> str:
    """Version of the installed package."""
    return version("training-doctor")


def read(folder: Path) -> Reading:
    """What it says of the logs in a folder.

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
        first = (str(error).splitlines() or [""])[0].replace(str(folder), ".")
        return Reading(unreadable=f"{type(error).__name__}: {first}")
    # it looks again at every step: of each detector the answer that it is most sure of counts
    best: dict[str, Any] = {}
    for diagnosis in diagnoses:
        known = best.get(diagnosis.detector_name)
        if known is None or _rank(diagnosis) < _rank(known):
            best[diagnosis.detector_name] = diagnosis
    found = sorted(best.values(), key=_rank)
    return Reading(
        tuple(diagnosis.detector_name for diagnosis in found),
        tuple(diagnosis.severity.value for diagnosis in found),
        tuple(round(float(diagnosis.confidence), 6) for diagnosis in found),
    )


def _rank(diagnosis: Any) -> tuple[int, float, int]:
    """The most severe first, then the most confident, then the earliest."""
    return (
        SEVERITIES.index(diagnosis.severity.value),
        -diagnosis.confidence,
        diagnosis.step or 0,
    )
