"""First break: the order by hand, a baseline: the component whose invariant broke first.

The rules of precedence, from ``endings.csv`` and the kinds of the invariants:

1. An ending that speaks ``before`` decides, where one fits.
2. Else the earliest break that is no symptom; but logic outranks statistics that broke at most
   :data:`OUTRANKED` steps before it.
3. Else an ending that speaks ``after``, where one fits.
4. Else the earliest symptom.
5. Else an ending that speaks ``last``; without one, the diagnosis abstains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failbench.monitor.breaks import Break, breaks
from failbench.monitor.end import End
from failbench.monitor.endings import ENDINGS, RANKS, Ending
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, Bound, Invariant
from failbench.vocabulary import ABSTAIN, Answer

OUTRANKED: Final = 20  # steps within which a break of logic outranks one of statistics


@dataclass(frozen=True)
class Diagnosis:
    """What the order by hand makes of a run.

    Attributes
    ----------
    answer
        The component that the cause lies in, or that there is no telling.
    decided_by
        The break or the ending that decided, or None.
    breaks
        All that broke, by step.
    end
        How the run ended.
    off
        Signals that were not measured, with the reason.
    """

    answer: Answer
    decided_by: Break | Ending | None
    breaks: tuple[Break, ...]
    end: End
    off: Mapping[str, str]

    @property
    def evidence(self) -> str:
        """One line that says why."""
        if isinstance(self.decided_by, Break):
            broken = self.decided_by
            return (
                f"Step {broken.step}: {broken.invariant.signal} is {broken.value:.6g}. What must "
                f"hold: {broken.invariant.statement}"
            )
        if isinstance(self.decided_by, Ending):
            ending = self.decided_by
            error = f" {self.end.error}: {self.end.message}" if self.end.error else ""
            return f"Step {self.end.step}, phase {self.end.phase}: {ending.statement}{error}"
        return "Nothing that must hold was seen to break."

    def __str__(self) -> str:
        lines = [f"{self.answer}: {self.evidence}"]
        later = [each for each in self.breaks if each is not self.decided_by]
        lines += [
            f"  also broken at step {each.step}: {each.invariant.id} ({each.value:.6g})"
            for each in later
        ]
        if self.off:
            lines.append(f"  not seen: {', '.join(sorted(self.off))}")
        return "\n".join(lines)


def diagnose(
    history: History,
    fitted: Mapping[str, Bound],
    invariants: Iterable[Invariant] = CATALOGUE,
    endings: Sequence[Ending] = ENDINGS,
) -> Diagnosis:
    """Diagnose a run from its history."""
    broken = breaks(history, invariants, fitted)
    decided_by = decide(broken, history.end, endings)
    return Diagnosis(answer_of(decided_by), decided_by, broken, history.end, history.off)


def decide(broken: Sequence[Break], end: End, endings: Sequence[Ending]) -> Break | Ending | None:
    """The break or the ending that decides, by the rules of precedence above."""
    names = {each.invariant.id for each in broken}
    fitting = [ending for ending in endings if ending.fits(end, names)]
    before, after, last = (
        next((ending for ending in fitting if ending.rank == rank), None) for rank in RANKS
    )
    symptom = next((each for each in broken if each.invariant.kind == "symptom"), None)
    return before or _earliest(broken) or after or symptom or last


def answer_of(decided_by: Break | Ending | None) -> Answer:
    """The component of what decided; where nothing did, there is no telling."""
    if decided_by is None:
        return ABSTAIN
    if isinstance(decided_by, Break):
        return decided_by.invariant.component
    return decided_by.component


def _earliest(broken: Sequence[Break]) -> Break | None:
    logic = next((each for each in broken if each.invariant.kind == "logic"), None)
    statistic = next((each for each in broken if each.invariant.kind == "statistic"), None)
    if logic is None or statistic is None:
        return logic or statistic
    return logic if logic.step <= statistic.step + OUTRANKED else statistic
