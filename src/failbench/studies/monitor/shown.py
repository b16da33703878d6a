"""What the tables of the monitor are made of, and what they all say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.studies.monitor.results import ALL_SETTINGS

INTERVAL_NOTE: Final = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds; Wilson's with n = scenarios where a rate is high or a category has a single scenario."
)
ANSWER_NOTE: Final = (
    "Accuracy: at the failure, from the log up to the step in which the detector sees it, where "
    "features are taken for other methods; an abstention counts as wrong. When named: of the runs "
    "of which a cause is named; named: their share. Rules were frozen before they were applied, "
    "and bounds come from healthy runs alone; version 2 was made with runs of the development half "
    "in view and later ones with both, where their figures are in-sample."
)


@dataclass(frozen=True)
class Shown:
    """What the tables are made of; see :mod:`failbench.studies.monitor.results`.

    Attributes
    ----------
    rates, decisive, delays, alarms
        Tables of all versions.
    cost
        Rows of ``cost.COST_SCHEMA``.
    versions
        Versions, the last of which tables of details are of.
    halves
        Which scenarios, in words.
    reference
        The setting that tables of details are of, beside all together.
    lenders
        Settings whose bounds the runs of all others were held against as well.
    confidence
        Of the intervals.
    """

    rates: pl.DataFrame
    decisive: pl.DataFrame
    delays: pl.DataFrame
    alarms: pl.DataFrame
    cost: pl.DataFrame
    versions: Sequence[str]
    halves: str
    reference: str
    lenders: Sequence[str]
    confidence: float

    def settings(self, version: str) -> list[str]:
        """Settings that a version judged: all together first, if there are several."""
        names = set(self.rates.filter(version=version)["setting"]) - {ALL_SETTINGS}
        return [*((ALL_SETTINGS,) if len(names) > 1 else ()), *sorted(names)]

    @property
    def detailed(self) -> list[str]:
        """Settings of the tables of details: the reference after all together."""
        known = self.settings(self.versions[-1])
        return [name for name in known if name in {ALL_SETTINGS, self.reference}] or known

    def rate(self, **key: str) -> Mapping[str, Any] | None:
        """The estimate of a key, if there is one."""
        rows = self.rates.filter(**key).to_dicts()
        return rows[0] if rows else None

    def cell(self, form: Callable[[float], str] = percent, /, **key: str) -> str:
        """An estimate with its interval."""
        rate = self.rate(**key)
        if rate is None:
            return ABSENT
        return with_interval(rate["value"], rate["ci_low"], rate["ci_high"], form)

    def size(self, **key: str) -> str:
        """Scenarios and runs of an estimate."""
        rate = self.rate(**key)
        return ABSENT if rate is None else f"{rate['n']} / {rate['runs']}"


def halves_in_words(halves: Sequence[str]) -> str:
    """Which scenarios the figures are of.

    >>> halves_in_words(["development"])
    'development half'
    """
    return " and ".join(halves) + (" half" if len(halves) == 1 else " halves")


def caption(shown: Shown, text: str) -> str:
    """A text, and which scenarios it is about."""
    return f"{text} ({shown.halves} of the scenarios)."
