"""The order for one run, and the connection for its reports."""

from dataclasses import dataclass
from multiprocessing.connection import Connection

from failbench.base.scenarios import Architecture, FaultDeclaration, Optimizer
from failbench.monitor.signals import Level
from failbench.recording.nominal import Nominal, Seeds


@dataclass(frozen=True)
class RunOrder:
    """What a child needs to execute a run; None where there is no fault, limit or monitor."""

    # ``looks`` are steps after which the campaign reads the log of that monitor.

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
    level: Level | None = None
    looks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """The connections between a child and the campaign."""

    channel: Connection
    lifeline: Connection
    scratch: str
    log: str
