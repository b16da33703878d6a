"""What the tables of the monitor are made of, and what they all say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.monitored.verdicts import OWN
from failbench.reporting.cells import ABSENT, interval_cell, percent, signed, with_interval
from failbench.statistics.bootstrap import Interval
from failbench.studies.monitor.blind import VERSION
from failbench.studies.monitor.results import ALL_SETTINGS

INTERVAL_NOTE: Final = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds; Wilson's with n = scenarios where a rate is high or a category has a single scenario."
)
ANSWER_NOTE: Final = (
    "Accuracy: at the failure, from the log up to the step in which the detector sees it, where "
    "features are taken for other methods; an abstention counts as wrong. When named: of the runs "
    "of which a category is named; named: their share. Rules were frozen before they were applied, "
    "and bounds come from healthy runs alone. Version 1 was frozen before any failing run had been "
    "recorded with the monitor, by the author of the faults, who had notes on an earlier "
    "prototype; version 2 was made with runs of the development half in view and later ones with "
    "both, where their figures are in-sample."
)


@dataclass(frozen=True)
class Shown:
    """What the tables are made of; see :mod:`failbench.studies.monitor.results`."""

    rates: pl.DataFrame
    decisive: pl.DataFrame
    delays: pl.DataFrame
    alarms: pl.DataFrame
    cost: pl.DataFrame
    blind: Mapping[str, Interval]
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

    def whole(self, version: str, part: str = "whole", name: str = "whole") -> dict[str, str]:
        """The key of an accuracy in the reference setting."""
        key = {"version": version, "setting": self.reference, "part": part, "name": name}
        return key | {"metric": "accuracy"}

    def accuracy(self, version: str, part: str = "whole", name: str = "whole") -> Mapping[str, Any]:
        """An accuracy in the reference setting."""
        return self.rates.row(by_predicate=self._is(self.whole(version, part, name)), named=True)

    def twins(self, version: str) -> Mapping[str, Any]:
        """How many healthy twins of the reference setting a version alarms, with own bounds."""
        key = {"version": version, "setting": self.reference, "kind": "twin", "bounds": OWN}
        return self.alarms.row(by_predicate=self._is(key), named=True)

    def alarmed(self, version: str) -> str:
        """The same in percent, with its interval."""
        return with_interval(*(self.twins(version)[key] for key in ("value", "ci_low", "ci_high")))

    @staticmethod
    def _is(key: Mapping[str, str]) -> pl.Expr:
        return pl.all_horizontal(pl.col(name) == value for name, value in key.items())

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


def points(difference: Interval) -> str:
    """A difference in points with its interval, and whether it is shown."""
    text = f"{interval_cell(difference, lambda value: signed(100 * value))} points"
    return f"{text}: no difference is shown" if unshown(difference) else text


def unshown(difference: Interval) -> bool:
    """Whether its interval holds zero."""
    return difference.ci_low <= 0 <= difference.ci_high


def halves_in_words(halves: Sequence[str]) -> str:
    """Which scenarios the figures are of.

    >>> halves_in_words(["development"])
    'development half'
    """
    return " and ".join(halves) + (" half" if len(halves) == 1 else " halves")


def blind_note(shown: Shown) -> tuple[str, ...]:
    """What the version that had not seen the half reaches on it, where it judged it."""
    if not shown.blind:
        return ()
    version, forest, difference = shown.blind.values()
    said = (
        f"Version {VERSION} on the half that it was not made on ({version.n} scenarios of "
        f"{shown.reference}): {interval_cell(version)}, the random forest out of fold on the 19 "
        f"features {interval_cell(forest)}, paired difference {points(difference)}. Healthy twins "
        f"alarmed by version {VERSION}: {shown.alarmed(VERSION)}, by version {shown.versions[0]}: "
        f"{shown.alarmed(shown.versions[0])}, by version {shown.versions[-1]}: "
        f"{shown.alarmed(shown.versions[-1])}."
    )
    return (said,)


def caption(shown: Shown, text: str) -> str:
    """A text, and which scenarios it is about."""
    return f"{text} ({shown.halves} of the scenarios)."
