"""The order for one run, and the connection for its reports."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection

from failbench.base.scenarios import Architecture, FaultDeclaration, Optimizer
from failbench.monitor.signals import Level
from failbench.recording.nominal import Nominal, Seeds


@dataclass(frozen=True)
class RunOrder:
    """Everything that a child needs to execute one run.

    ``onset_step`` is None for twins and successful runs, which have no fault. ``capacity_bytes`` is
    None for healthy runs, which have no memory limit. ``level`` is what a monitor measures in the
    run; None for none. ``looks`` are steps after which the campaign reads the log of that monitor.
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
    level: Level | None = None
    looks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """The connections between a child and the campaign."""

    channel: Connection
    lifeline: Connection
    scratch: str
    log: str
