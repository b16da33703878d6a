"""The order for one run, and the line that it is reported on."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection

from failbench.recording.nominal import Nominal, Seeds
from failbench.scenarios import Architecture, FaultDeclaration, Optimizer


@dataclass(frozen=True)
class RunOrder:
    """Everything a child needs to execute one run.

    ``onset_step`` is None for a twin and for a successful run: the fault is never switched on.
    ``capacity_bytes`` is None while a healthy run is measured.
    """

    run_id: str
    architecture: Architecture
    optimizer: Optimizer
    scale: str
    device: str
    nominal: Nominal
    seeds: Seeds
    declaration: FaultDeclaration | None
    onset_step: int | None
    capacity_bytes: int | None
    corpus_cache: str


@dataclass(frozen=True)
class Line:
    """What connects a child with the campaign.

    Attributes
    ----------
    channel
        Reports go up; the answer to a hold comes down.
    lifeline
        Nothing is ever sent; it breaks when the campaign dies.
    scratch
        A folder of the run's own, which the campaign removes.
    """

    channel: Connection
    lifeline: Connection
    scratch: str
