"""Settings of the monitor's study: the sections ``invariants`` and ``monitor`` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from failbench.records import Record
from failbench.studies.monitor.halves import Half


class JudgedRuns(Record):
    """Which runs are judged, and by what; the section ``invariants``.

    Attributes
    ----------
    versions
        Frozen versions of the rules, in their order.
    halves
        Halves of the scenarios whose runs are read. Those of the others are not looked at.
    lenders
        Settings whose bounds all other settings' runs are held against as well.
    steps_ahead
        Steps before the failure at which logs are cut; at 0 the end is known.
    """

    versions: tuple[str, ...] = Field(min_length=1)
    halves: tuple[Half, ...] = Field(min_length=1)
    lenders: tuple[str, ...]
    steps_ahead: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
