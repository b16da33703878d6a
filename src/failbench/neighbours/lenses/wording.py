"""Wording: numbers, verdicts and their grounds in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from failbench.neighbours.lenses.catalogue import Condition, Lens, Relation, rules
from failbench.neighbours.lenses.looking import Difference, Look
from failbench.neighbours.lenses.measured import Measure

LENS_WORDS: Final[dict[Lens, str]] = {
    "surface": "output",
    "fft": "input",
    "compression": "reasoning",
    "hazard": "time",
}
"""The space that each lens looks at, in the words of the workflow."""

_RELATIONS: Final[dict[Relation, str]] = {
    "above": "is above",
    "at_least": "is at least",
    "below": "is below",
    "at_most": "is at most",
}

_ENDS: Final = {"value": "", "ci_low": "lower end of ", "ci_high": "upper end of "}

UNDEFINED: Final = "not defined"


def plain(value: float) -> str:
    """A number with about three digits, no more than three of them decimals.

    >>> [plain(value) for value in (0.5123, 7.181, 28.44, 128.4, -0.0001)]
    ['0.512', '7.18', '28.4', '128', '0']
    """
    if not math.isfinite(value):
        return UNDEFINED
    size = abs(value)
    decimals = 3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0
    text = f"{value:z.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_ends(value: float, low: float, high: float) -> str:
    """A number and its interval.

    >>> with_ends(0.5, 0.4, 0.6)
    '0.5 [0.4, 0.6]'
    """
    if not math.isfinite(value):
        return UNDEFINED
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{plain(value)} [?, ?]"
    return f"{plain(value)} [{plain(low)}, {plain(high)}]"


def measure_words(measure: Measure | Difference) -> str:
    """A number or a difference with its interval."""
    return with_ends(measure.value, measure.ci_low, measure.ci_high)


def condition_words(condition: Condition, measure: Measure) -> str:
    """A condition that holds: what was measured, what it was held against, and why there."""
    value = plain(getattr(measure, condition.end))
    return (
        f"{_ENDS[condition.end]}{measure.kind.title} ({value}) {_RELATIONS[condition.relation]} "
        f"{plain(condition.threshold)}: {condition.reason}"
    )


def grounds(look: Look) -> Iterator[str]:
    """Why the verdict is what it is."""
    for condition in look.rule.conditions:
        yield condition_words(condition, look.measures[condition.measure])


def deciding(lens: Lens) -> tuple[str, ...]:
    """Names of the numbers that the rules of a lens read."""
    read = [condition.measure for rule in rules()[lens] for condition in rule.conditions]
    return tuple(dict.fromkeys(read))
