"""Rules as data: conditions on error text and on features, and how they are held against runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.methods.healthy_band import Band
from failbench.verdicts import Evidence
from failbench.vocabulary import Category

Side = Literal["above", "below"]

OPPOSITE: dict[Side, Side] = {"above": "below", "below": "above"}


@dataclass(frozen=True)
class ErrorMatches:
    """The error text ``"<type>: <message>"`` matches a regular expression, case included."""

    pattern: str

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Of each run, whether it matches; no text matches nothing."""
        found = error_text(runs).str.contains(self.pattern, regex=True)
        return np.asarray(found, dtype=bool)

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """Of each run, the words that matched; empty where none did."""
        found = [re.search(self.pattern, text) for text in error_text(runs)]
        return [
            Evidence("error_text", match.group(0) if match else "", "matches", self.pattern)
            for match in found
        ]


@dataclass(frozen=True)
class Crosses:
    """A feature lies on one side of a number; a missing value lies on neither."""

    feature: str
    side: Side
    threshold: float

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Of each run, whether it crosses the threshold."""
        values = runs[self.feature].to_numpy(dtype=float)
        beyond = values > self.threshold if self.side == "above" else values < self.threshold
        return np.asarray(beyond)

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """Of each run, the value and the side it lies on; of a missing one, the side asked for."""
        values = runs[self.feature].to_numpy(dtype=float)
        elsewhere = ~(self.holds(runs) | np.isnan(values))
        return [
            Evidence(
                self.feature, value, OPPOSITE[self.side] if other else self.side, self.threshold
            )
            for value, other in zip(values.tolist(), elsewhere.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class LeavesBand:
    """A feature lies outside the healthy band, on one side."""

    feature: str
    side: Side

    def resolve(self, band: Band, sds: float) -> Crosses:
        """The same condition with its number filled in."""
        edge = band.upper if self.side == "above" else band.lower
        return Crosses(self.feature, self.side, edge(self.feature, sds))


@dataclass(frozen=True)
class StaysInBand:
    """A feature is known and does not leave the healthy band on one side."""

    feature: str
    side: Side

    def resolve(self, band: Band, sds: float) -> Crosses:
        """The same condition with its number filled in: inside the edge of that side."""
        leaves = LeavesBand(self.feature, self.side).resolve(band, sds)
        return Crosses(self.feature, OPPOSITE[self.side], leaves.threshold)


@dataclass(frozen=True)
class PassesLimit:
    """A feature lies above a limit that a setting of the method gives by name."""

    feature: str
    setting: str


Condition = ErrorMatches | Crosses
Declared = ErrorMatches | Crosses | LeavesBand | StaysInBand | PassesLimit


@dataclass(frozen=True)
class Rule:
    """All conditions together mean the category."""

    name: str
    category: Category
    conditions: tuple[Declared, ...]
    source: str


@dataclass(frozen=True)
class ResolvedRule:
    """A rule with every number filled in."""

    name: str
    category: Category
    conditions: tuple[Condition, ...]

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Of each run, whether every condition holds."""
        holds = [condition.holds(runs) for condition in self.conditions]
        return np.asarray(np.logical_and.reduce(holds))


class Readings:
    """Conditions held against the same runs, each worked out once however often it is asked for.

    Parameters
    ----------
    runs
        Features and error text, a row a run.
    """

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        self._holds: dict[Condition, npt.NDArray[np.bool_]] = {}
        self._evidence: dict[Condition, list[Evidence]] = {}
        self._missing: dict[str, npt.NDArray[np.bool_]] = {}

    def holds(self, condition: Condition) -> npt.NDArray[np.bool_]:
        """Of each run, whether the condition holds."""
        if condition not in self._holds:
            self._holds[condition] = condition.holds(self.runs)
        return self._holds[condition]

    def all_hold(self, conditions: Iterable[Condition]) -> npt.NDArray[np.bool_]:
        """Of each run, whether every condition holds; where there is none, all do."""
        every = np.ones(len(self.runs), dtype=bool)
        for condition in conditions:
            every &= self.holds(condition)
        return every

    def any_missing(self, features: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Of each run, whether one of the features is missing; where none is asked for, none is."""
        some = np.zeros(len(self.runs), dtype=bool)
        for feature in features:
            if feature not in self._missing:
                self._missing[feature] = self.runs[feature].isna().to_numpy()
            some |= self._missing[feature]
        return some

    def evidence(self, condition: Condition) -> list[Evidence]:
        """Of each run, what was seen where the condition looked."""
        if condition not in self._evidence:
            self._evidence[condition] = condition.evidence(self.runs)
        return self._evidence[condition]


def resolve_condition(
    condition: Declared, band: Band, sds: float, limits: dict[str, float]
) -> Condition:
    """Fill in the number of a condition: a band edge, or a limit by name of setting."""
    match condition:
        case LeavesBand() | StaysInBand():
            return condition.resolve(band, sds)
        case PassesLimit():
            return Crosses(condition.feature, "above", limits[condition.setting])
        case _:
            return condition


def resolve(rule: Rule, band: Band, sds: float, limits: dict[str, float]) -> ResolvedRule:
    """Fill in the numbers of a rule."""
    conditions = (resolve_condition(one, band, sds, limits) for one in rule.conditions)
    return ResolvedRule(rule.name, rule.category, tuple(conditions))


def features_of_band(conditions: Iterable[Declared]) -> tuple[str, ...]:
    """Features whose healthy band the conditions need, sorted."""
    needed = {one.feature for one in conditions if isinstance(one, LeavesBand | StaysInBand)}
    return tuple(sorted(needed))


def error_text(runs: pd.DataFrame) -> pd.Series[str]:
    """``"<type>: <message>"`` of each run, empty where there was no error."""
    text = runs["error_type"].astype(str) + ": " + runs["error_message"].astype(str)
    return text.where(runs["error_type"].astype(str) != "", "")
