"""Cells: what tables of studies write of names and of intervals."""

from __future__ import annotations

from collections.abc import Callable

from failbench.evaluation.bootstrap import Interval
from failbench.reporting.tables import percent, with_interval


def words(name: str) -> str:
    """A name as people read it.

    >>> words("memory_hardware")
    'memory hardware'
    """
    return name.replace("_", " ")


def two_decimals(value: float) -> str:
    """A number with two decimals.

    >>> two_decimals(0.125)
    '0.12'
    """
    return f"{value:.2f}"


def interval_cell(interval: Interval, form: Callable[[float], str] = percent) -> str:
    """A figure with its bounds, as percent or in another form."""
    return with_interval(interval.value, interval.ci_low, interval.ci_high, form)
