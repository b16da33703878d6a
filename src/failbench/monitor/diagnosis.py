"""Diagnosis: what the package says of a run under the monitor, by what it learnt of others."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from failbench.monitor.breaks import Break
from failbench.monitor.end import End
from failbench.monitor.history import History
from failbench.monitor.invariants import Bound

# What diagnoses reads the monitor's logs, and so builds on the monitor: a loop that is watched
# holds nothing of it before it asks.
ENGINE: Final = "failbench.diagnose.watched"


class Diagnosis(Protocol):
    """What is said of a run; :class:`failbench.diagnose.watched.WatchedDiagnosis`."""

    @property
    def answer(self) -> str:
        """The category whose cause it is; else ``healthy``, ``unknown`` or ``too_little``."""

    @property
    def evidence(self) -> str:
        """One line: what speaks most for the first cause."""

    @property
    def breaks(self) -> tuple[Break, ...]:
        """All that broke, by step."""

    @property
    def end(self) -> End:
        """How the run ended."""

    @property
    def off(self) -> Mapping[str, str]:
        """Signals that were not measured, with the reason."""


def diagnose(history: History, fitted: Mapping[str, Bound]) -> Diagnosis:
    """Diagnose a run from its history, by bounds of the package where none are given."""
    return cast("Diagnosis", import_module(ENGINE).diagnose(history, fitted))
