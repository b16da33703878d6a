"""Watched: what is said of a run under the monitor, while it lives and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.readers.records import log_of_history
from failbench.monitor.bounds import packaged_bounds
from failbench.monitor.breaks import Break, breaks
from failbench.monitor.end import End
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, Bound

NAME: Final = "monitor"  # what evidence calls the log


@dataclass(frozen=True)
class WatchedDiagnosis:
    """What is said of a run.

    Attributes
    ----------
    said
        As ``failbench diagnose`` says it of the log.
    breaks
        All that broke, by step.
    end
        How the run ended.
    off
        Signals that were not measured, with the reason.
    """

    said: LogDiagnosis
    breaks: tuple[Break, ...]
    end: End
    off: Mapping[str, str]

    @property
    def answer(self) -> str:
        """The category whose cause it is; else the status, as ``healthy`` or ``unknown``."""
        return self.said.category or self.said.status

    @property
    def evidence(self) -> str:
        """One line: what speaks most for the first cause."""
        first = self.said.hypotheses[0].findings if self.said.hypotheses else ()
        for each in (*first, *self.said.findings):
            place = "" if each.step is None else f"Step {each.step}: "
            return f"{place}{each.statement}{f' {each.quote}' if each.quote else ''}"
        return "Nothing that must hold was seen to break."

    def __str__(self) -> str:
        lines = [f"{self.answer} ({self.said.level} confidence): {self.evidence}"]
        lines += [
            f"  likely: {each.cause.title}. {each.advice.remedies[0].change}"
            for each in self.said.hypotheses
        ]
        lines += [
            f"  broken at step {each.step}: {each.invariant.id} ({each.value:.6g})"
            for each in self.breaks
        ]
        if self.off:
            lines.append(f"  not seen: {', '.join(sorted(self.off))}")
        return "\n".join(lines)


def diagnose(history: History, fitted: Mapping[str, Bound]) -> WatchedDiagnosis:
    """Diagnose a run from its history, by bounds of the package where none are given."""
    bounds = fitted or packaged_bounds()
    said = diagnosis_of(log_of_history(NAME, history), bounds)
    return WatchedDiagnosis(said, breaks(history, CATALOGUE, bounds), history.end, history.off)
