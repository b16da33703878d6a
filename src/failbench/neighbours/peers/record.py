"""Record: runs the installed peers on logs of the benchmark's runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.neighbours.peers import runmedic, training_doctor
from failbench.neighbours.peers.recorder import Peer, record
from failbench.neighbours.peers.renderings import FORMATS, renderer
from failbench.neighbours.peers.standards import standards
from failbench.neighbours.peers.verdicts import Reading

KINDS: Final = ("failure", "twin", "success")
"""Runs that peers are asked about; remedies belong to a study of their own."""

INSTALL: Final = "Install the extra `peers`: pip install -e '.[peers]'."


def installed_peers() -> tuple[Peer, ...]:
    """The peers that can be run, of the versions that are compared with."""
    return (
        _installed(runmedic.PEER, runmedic.installed_version, runmedic.read),
        _installed(training_doctor.PEER, training_doctor.installed_version, training_doctor.read),
    )


def record_peers(
    path: Path, telemetry: Telemetry, progress: Callable[[int, int], None]
) -> pl.DataFrame:
    """Record what the installed peers say of all runs of telemetry, remedies left out."""
    peers = installed_peers()
    asked = telemetry.select(pl.col("kind").is_in(KINDS))
    runs = asked.runs.sort("run_id")["run_id"].to_list()
    return record(path, runs, peers, renderer(asked), progress)


def _installed(name: str, found: Callable[[], str], read: Callable[[Path], Reading]) -> Peer:
    standard = standards()[name]
    try:
        version = found()
    except PackageNotFoundError as error:
        raise BadInputError(standard.label, "(package)", "is not installed.", INSTALL) from error
    if version != standard.version:
        raise BadInputError(
            standard.label, "(version)", f"is {version} and must be {standard.version}.", INSTALL
        )
    return Peer(name, version, FORMATS[name], read)
