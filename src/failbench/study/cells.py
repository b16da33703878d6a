"""Cells: how tables and figures write names, numbers and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from failbench.statistics.bootstrap import Interval

ABSENT = "–"

Estimate = Mapping[str, float]
"""``value``, ``ci_low``, ``ci_high`` and ``n``."""

Measured = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Estimates by feature set, method and metric: the content of ``data/metrics/intervals.json``."""


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


def two_decimals(value: float) -> str:
    """A number with two decimals.

    >>> two_decimals(0.125)
    '0.12'
    """
    return f"{value:.2f}"


def percent(value: float) -> str:
    """A fraction as percent with one decimal, without the sign.

    What rounds to zero has no sign either.

    >>> percent(0.1254), percent(-0.0001)
    ('12.5', '0.0')
    """
    return f"{100 * value:z.1f}"


def one_decimal(value: float) -> str:
    """A number with one decimal.

    >>> one_decimal(3.14)
    '3.1'
    """
    return f"{value:.1f}"


def three_decimals(value: float) -> str:
    """A number with three decimals.

    >>> three_decimals(0.12345)
    '0.123'
    """
    return f"{value:.3f}"


def with_interval(
    value: float, low: float, high: float, form: Callable[[float], str] = percent
) -> str:
    """A number and its interval, as percent or in another form.

    >>> with_interval(0.125, 0.1, 0.2)
    '12.5 [10.0, 20.0]'
    """
    return f"{form(value)} [{form(low)}, {form(high)}]"


def interval_cell(interval: Interval, form: Callable[[float], str] = percent) -> str:
    """A figure with its bounds, as percent or in another form."""
    return with_interval(interval.value, interval.ci_low, interval.ci_high, form)


def signed(points: float) -> str:
    """A difference with its sign and one decimal; zero has no sign.

    >>> signed(12.34), signed(-0.04)
    ('+12.3', '0.0')
    """
    text = f"{points:+.1f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else "0.0"
