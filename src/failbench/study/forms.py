"""Forms: the ways to write a number, by the names that tables and captions call them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from failbench.study.cells import one_decimal, percent, signed, three_decimals, two_decimals

Form = str | Callable[[float], str]
"""A name of :data:`FORMS`, or a function."""

FORMS: Final[Mapping[str, Callable[[float], str]]] = {
    "percent": percent,
    "share": lambda value: f"{100 * value:g}",
    "whole": lambda value: f"{100 * value:.0f}",
    "points": lambda value: signed(100 * value),
    "signed": signed,
    "one": one_decimal,
    "two": two_decimals,
    "three": three_decimals,
    "count": lambda value: f"{value:.0f}",
    "plain": lambda value: f"{value:g}",
    "p": lambda value: "< 0.001" if value < 0.001 else three_decimals(value),
    "said_p": lambda value: "p < 0.001" if value < 0.001 else f"p = {three_decimals(value)}",
}
"""``percent``: 27.9 for 0.279. ``share``: 95 for 0.95, as settings are written. ``whole``: 28.
``points``: +27.9. ``p``: a probability of a test, alone or (``said_p``) as in a sentence."""


def written(value: float, form: Form = "percent") -> str:
    """A number in one of the forms.

    >>> written(0.95), written(0.95, "share"), written(-0.05, "points"), written(0.0002, "p")
    ('95.0', '95', '−5.0', '< 0.001')
    """
    write = FORMS[form] if isinstance(form, str) else form
    return write(value)
