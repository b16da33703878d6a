"""Alarm: whether something in a log is wrong, before it is asked what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from failbench.diagnose.bounds import CheckBound
from failbench.diagnose.signs import Sign


def is_alarm(says_end: bool, signs: Iterable[Sign], bounds: Mapping[str, CheckBound]) -> bool:
    """Whether a log says of an error or an end, or a sign in it alarms by itself."""
    return says_end or any(alarms(sign, bounds) for sign in signs)


def alarms(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether a sign alone says that something is wrong.

    A warning does that says so itself (``direct``), and not one of which a healthy run has many; a
    trap that speaks for a cause, and not one that only says how to read a value.
    """
    if sign.kind == "check":
        return breaks_bound(sign, bounds)
    if sign.kind == "message":
        return sign.strength == "direct"
    return sign.kind in ("trap", "invariant", "ending") and bool(sign.causes)


def breaks_bound(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether the sign of a check lies beyond its bound; without one nothing does."""
    return sign.id in bounds and sign.amount > bounds[sign.id].limit
