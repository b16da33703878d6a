"""Cells: how tables, figures and captions write names, numbers and estimates."""

from collections.abc import Callable, Mapping
from typing import Any, Final

ABSENT: Final = "–"

Measured = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Estimates by feature set, method and metric: the content of ``data/metrics/intervals.json``."""

Form = str | Callable[[float], str]  # a name of :data:`FORMS`, or a function


def words(name: str) -> str:
    """A name as people read it.

    >>> words("memory_hardware")
    'memory hardware'
    """
    return name.replace("_", " ")


def counted(number: int, noun: str) -> str:
    """So many of something, in words that fit the number.

    >>> counted(1, "step"), counted(3, "step")
    ('1 step', '3 steps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def percent(value: float) -> str:
    """A fraction as percent with one decimal, without the percent sign; zero has no minus.

    >>> percent(0.1254), percent(-0.0001)
    ('12.5', '0.0')
    """
    return f"{100 * value:z.1f}"


def signed(points: float) -> str:
    """A difference with its sign and one decimal; zero has no sign.

    >>> signed(12.34), signed(-0.04)
    ('+12.3', '0.0')
    """
    text = f"{points:+.1f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else "0.0"


FORMS: Final[Mapping[str, Callable[[float], str]]] = {
    "percent": percent,
    "share": lambda value: f"{100 * value:g}",
    "whole": lambda value: f"{100 * value:.0f}",
    "points": lambda value: signed(100 * value),
    "signed": signed,
    "one": "{:.1f}".format,
    "two": "{:.2f}".format,
    "units": lambda value: f"{value:.2f}".replace("-", "−"),
    "three": "{:.3f}".format,
    "count": "{:.0f}".format,
    "steps": lambda value: f"{value:.0f}".replace("-", "−"),
    "plain": "{:g}".format,
    "shown": lambda value: "shown" if value else "not shown",
    "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
    "said_p": lambda value: "p < 0.001" if value < 0.001 else f"p = {value:.3f}",
}
"""``percent``: 27.9 for 0.279. ``share``: 95 for 0.95, as settings are written. ``whole``: 28.
``points``: +27.9. ``units``: two decimals of what may be negative; ``steps``: a count that may be.
``p``: a probability of a test, alone or (``said_p``) as in a sentence."""


def written(value: float, form: Form = "percent") -> str:
    """A number in one of the forms.

    >>> written(0.95), written(0.95, "share"), written(-0.05, "points"), written(0.0002, "p")
    ('95.0', '95', '−5.0', '< 0.001')
    """
    write = FORMS[form] if isinstance(form, str) else form
    return write(value)


def estimate_text(row: Mapping[str, Any], form: Form = "percent") -> str:
    """An estimate as text, with its interval if it has one, or with the deviation ``sd``.

    >>> estimate_text({"value": 0.125, "ci_low": 0.1, "ci_high": 0.2})
    '12.5 [10.0, 20.0]'
    """
    value = written(row["value"], form)
    if row.get("sd") is not None:
        return f"{value} ± {written(row['sd'], form)}"
    if row.get("ci_low") is None or row.get("ci_high") is None:
        return value
    return f"{value} [{written(row['ci_low'], form)}, {written(row['ci_high'], form)}]"
