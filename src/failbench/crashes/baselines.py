"""Predictors that understand nothing: always the same answer, and a threshold on characters.

Both are learnt from the development notebooks among the cases.
"""

from __future__ import annotations

from collections.abc import Sequence

from failbench.crashes.cases import Case
from failbench.crashes.prediction import CrashPrediction


def majority(cases: Sequence[Case]) -> list[CrashPrediction]:
    """What most development notebooks do, and the exception that most of their crashes raise.

    As many crash as do not: the tie goes to the crash, so that the exception can be named.
    """
    raised = [case.exception for case in cases if case.part == "development" and case.exception]
    most = max(sorted(set(raised)), key=raised.count)
    return [CrashPrediction(True, most, "Most that crash raise it.")] * len(cases)


def by_length(cases: Sequence[Case]) -> list[CrashPrediction]:
    """Crashes on one side of a number of characters of code."""
    known = [case for case in cases if case.part == "development"]
    sides = [
        (threshold, longer)
        for threshold in sorted({case.characters for case in known})
        for longer in (False, True)
    ]

    def right(side: tuple[int, bool]) -> int:
        threshold, longer = side
        return sum(
            ((case.characters >= threshold) == longer) == (case.exception is not None)
            for case in known
        )

    threshold, longer = max(sides, key=right)
    side = "at least" if longer else "fewer than"
    reason = f"Code of {side} {threshold:,} characters crashes, of development notebooks."
    return [
        CrashPrediction((case.characters >= threshold) == longer, None, reason) for case in cases
    ]
