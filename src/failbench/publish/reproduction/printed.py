"""Printed text: equal words, and numbers that agree to the unit of their last digit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from failbench.publish.reproduction.difference import CHANGED, Difference, share_of
from failbench.publish.reproduction.tolerances import Tolerance

NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
RULER = re.compile(r"^[|:\- ]+$")
"""The line below the header of a Markdown table, whose length follows the widest entry."""

ROUNDING = 1 + 1e-9
"""0.3 - 0.2 is not 0.1 in binary."""

AROUND = 20
"""Characters that are shown on either side of what differs."""


@dataclass(frozen=True)
class _Number:
    value: float
    unit: float
    """Unit of the last printed digit; 0 for whole numbers, which are counts."""


def text_differences(committed: str, regenerated: str) -> list[Difference]:
    """Differences between two printed texts, line by line, ignoring column widths."""
    before, after = committed.splitlines(), regenerated.splitlines()
    if len(before) != len(after):
        return [Difference("", "lines", str(len(before)), str(len(after)))]
    differences = []
    for number, (line, other) in enumerate(zip(before, after, strict=True), start=1):
        share = text_share(line, other)
        if share:
            differences.append(
                Difference(f"line {number}", "", *_differing_parts(line, other), share)
            )
    return differences


def text_share(committed: str, regenerated: str) -> float:
    """The largest difference between the numbers of two texts, in units of their last digits.

    Examples
    --------
    >>> text_share("59.2 [51.3, 67.1] of 76", "59.2 [51.2, 67.1] of 76") <= 1
    True
    >>> text_share("59.2 of 76", "59.2 of 75")
    inf
    >>> text_share("p = 0.001", "p < 0.001")
    inf
    """
    if committed == regenerated:
        return 0.0
    line, other = _normal(committed), _normal(regenerated)
    if NUMBER.sub("#", line) != NUMBER.sub("#", other):
        return CHANGED
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return max((_share(number, another) for number, another in pairs), default=0.0)


def _share(committed: str, regenerated: str) -> float:
    before, after = _number(committed), _number(regenerated)
    # Digits that a general format omits are zeros: the finer unit applies to both.
    units = [number.unit for number in (before, after) if number.unit]
    unit = min(units, default=0.0) * ROUNDING
    return share_of(before.value, after.value, Tolerance(absolute=unit, relative=0.0))


def _number(text: str) -> _Number:
    plain = text.replace("−", "-")
    mantissa, _, exponent = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    counted = not decimals and not exponent
    return _Number(float(plain), 0.0 if counted else 10.0 ** (int(exponent or 0) - decimals))


def _normal(line: str) -> str:
    if RULER.match(line):
        return re.sub(r"-+", "-", line.replace(" ", ""))
    return re.sub(r"\s+", " ", line.strip())


def _differing_parts(committed: str, regenerated: str) -> tuple[str, str]:
    """Both lines, cut to the part that differs and a few characters around it."""
    before, after = _normal(committed), _normal(regenerated)
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    end = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), 0)
    first = max(start - AROUND, 0)
    return tuple(
        text[first : min(len(text) - end + AROUND, first + 4 * AROUND)] for text in (before, after)
    )  # type: ignore[return-value]
