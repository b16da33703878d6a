"""Verdicts: what the numbers of a lens say, by rules that were fixed before any was seen."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Final

from failbench.neighbours.lenses.catalogue import (
    Condition,
    Lens,
    Relation,
    Rule,
    Synthesis,
    rules,
    syntheses,
)
from failbench.neighbours.lenses.measured import Measure

_HOLDS: Final[dict[Relation, Callable[[float, float], bool]]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}


def holds(condition: Condition, measures: Mapping[str, Measure]) -> bool:
    """Whether a condition holds; never where its number is not defined."""
    value = getattr(measures[condition.measure], condition.end)
    if not math.isfinite(value):
        return False
    return _HOLDS[condition.relation](value, condition.threshold)


def verdict_of(lens: Lens, measures: Mapping[str, Measure]) -> Rule:
    """The first rule of a lens whose conditions all hold; the last has none."""
    return next(
        rule
        for rule in rules()[lens]
        if all(holds(condition, measures) for condition in rule.conditions)
    )


def synthesis_of(verdicts: Mapping[Lens, str]) -> Synthesis:
    """The first joint hypothesis that four verdicts fit; the last takes any."""

    def fits(synthesis: Synthesis) -> bool:
        return all(
            not (known := getattr(synthesis, lens)) or verdict in known
            for lens, verdict in verdicts.items()
        )

    return next(synthesis for synthesis in syntheses() if fits(synthesis))
