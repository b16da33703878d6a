"""Numbers as logs print them."""

from __future__ import annotations

from typing import Final

NUMBER: Final = (
    r"[-+]?(?:(?:\d[\d,]{0,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,4})?(?!\d)"
    r"|(?:nan|NaN|NAN|inf|Inf|INF|infinity|Infinity)\b)"
)
"""A pattern of numbers, which takes a time in proportion to what it reads: all repeats end."""

LONGEST: Final = 64
"""Letters of the longest text that is read as a number; a loss of more digits is none."""


def number(text: str) -> float | None:
    """The number that a text shows, or None where it shows none.

    Not a number and infinity are numbers here, as logs tell of them.

    >>> number(" 1,234.5 "), number("1e-3"), number("-Infinity"), number("3.2e"), number("")
    (1234.5, 0.001, -inf, None, None)
    """
    if len(text) > LONGEST:
        return None
    try:
        return float(text.replace(",", "") if "," in text else text)
    except ValueError:
        return None


def whole_number(value: float | None) -> int | None:
    """A number of steps, if it is one.

    >>> whole_number(12.0), whole_number(1.5), whole_number(float("nan")), whole_number(1e300)
    (12, None, None, None)
    """
    if value is None or not 0 <= value < 2**53 or value != int(value):
        return None
    return int(value)
