"""Rules as data: conditions on error text and on features, and their evaluation on runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.base.verdicts import OPPOSITE, Evidence, Side
from failbench.base.vocabulary import Category
from failbench.methods.healthy_band import Band


@dataclass(frozen=True)
class ErrorMatches:
    """The error text ``"<type>: <message>"`` matches a regular expression, case included."""

    pattern: str

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Whether each run matches; without error text none does."""
        matches = error_text(runs).str.contains(self.pattern, regex=True)
        return np.asarray(matches, dtype=bool)

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """The words of each run that matched; empty where none did."""
        matches = [re.search(self.pattern, text) for text in error_text(runs)]
        return [
            Evidence("error_text", match.group(0) if match else "", "matches", self.pattern)
            for match in matches
        ]


@dataclass(frozen=True)
class Crosses:
    """A feature lies on one side of a number; a missing value lies on neither."""

    feature: str
    side: Side
    threshold: float

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Whether each run crosses the threshold."""
        values = runs[self.feature].to_numpy(dtype=float)
        beyond = values > self.threshold if self.side == "above" else values < self.threshold
        return np.asarray(beyond)

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """The value of each run and its side; where missing, the side of the condition."""
        values = runs[self.feature].to_numpy(dtype=float)
        opposite = ~(self.holds(runs) | np.isnan(values))
        return [
            Evidence(
                self.feature,
                value,
                OPPOSITE[self.side] if is_opposite else self.side,
                self.threshold,
            )
            for value, is_opposite in zip(values.tolist(), opposite.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class LeavesBand:
    """A feature lies outside the healthy band, on one side."""

    feature: str
    side: Side

    def resolve(self, band: Band, sds: float) -> Crosses:
        """The same condition with its threshold filled in."""
        edge = band.upper if self.side == "above" else band.lower
        return Crosses(self.feature, self.side, edge(self.feature, sds))


@dataclass(frozen=True)
class StaysInBand:
    """A feature is known and does not leave the healthy band on one side."""

    feature: str
    side: Side

    def resolve(self, band: Band, sds: float) -> Crosses:
        """The same condition with its threshold filled in: inside the edge of that side."""
        leaves = LeavesBand(self.feature, self.side).resolve(band, sds)
        return Crosses(self.feature, OPPOSITE[self.side], leaves.threshold)


@dataclass(frozen=True)
class PassesLimit:
    """A feature lies above a limit, which is a setting of the method."""

    feature: str
    setting: str


Condition = ErrorMatches | Crosses
Declared = ErrorMatches | Crosses | LeavesBand | StaysInBand | PassesLimit


@dataclass(frozen=True)
class Rule:
    """Names a category where all conditions hold."""

    name: str
    category: Category
    conditions: tuple[Declared, ...]
    source: str


@dataclass(frozen=True)
class ResolvedRule:
    """A rule with every threshold filled in."""

    name: str
    category: Category
    conditions: tuple[Condition, ...]

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Whether every condition holds for each run."""
        holds = [condition.holds(runs) for condition in self.conditions]
        return np.asarray(np.logical_and.reduce(holds))


class EvaluatedConditions:
    """Conditions evaluated on the same runs, each computed once.

    Parameters
    ----------
    runs
        Features and error text, one row per run.
    """

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        self._holds: dict[Condition, npt.NDArray[np.bool_]] = {}
        self._evidence: dict[Condition, list[Evidence]] = {}
        self._missing: dict[str, npt.NDArray[np.bool_]] = {}

    def holds(self, condition: Condition) -> npt.NDArray[np.bool_]:
        """Whether the condition holds for each run."""
        if condition not in self._holds:
            self._holds[condition] = condition.holds(self.runs)
        return self._holds[condition]

    def all_hold(self, conditions: Iterable[Condition]) -> npt.NDArray[np.bool_]:
        """Whether all conditions hold for each run; true without conditions."""
        holds = np.ones(len(self.runs), dtype=bool)
        for condition in conditions:
            holds &= self.holds(condition)
        return holds

    def any_missing(self, features: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Whether any of the features is missing for each run; false without features."""
        missing = np.zeros(len(self.runs), dtype=bool)
        for feature in features:
            if feature not in self._missing:
                self._missing[feature] = self.runs[feature].isna().to_numpy()
            missing |= self._missing[feature]
        return missing

    def evidence(self, condition: Condition) -> list[Evidence]:
        """The value or words of each run that the condition looks at."""
        if condition not in self._evidence:
            self._evidence[condition] = condition.evidence(self.runs)
        return self._evidence[condition]


def resolve_condition(
    condition: Declared, band: Band, sds: float, limits: dict[str, float]
) -> Condition:
    """Fill in the threshold of a condition: a band edge, or a limit by name of setting."""
    match condition:
        case LeavesBand() | StaysInBand():
            return condition.resolve(band, sds)
        case PassesLimit():
            return Crosses(condition.feature, "above", limits[condition.setting])
        case _:
            return condition


def resolve(rule: Rule, band: Band, sds: float, limits: dict[str, float]) -> ResolvedRule:
    """Fill in the thresholds of a rule."""
    conditions = (resolve_condition(condition, band, sds, limits) for condition in rule.conditions)
    return ResolvedRule(rule.name, rule.category, tuple(conditions))


def features_of_band(conditions: Iterable[Declared]) -> tuple[str, ...]:
    """Features whose healthy band the conditions need, sorted."""
    needed = {
        condition.feature
        for condition in conditions
        if isinstance(condition, LeavesBand | StaysInBand)
    }
    return tuple(sorted(needed))


def error_text(runs: pd.DataFrame) -> pd.Series[str]:
    """``"<type>: <message>"`` of each run, empty where there was no error."""
    text = runs["error_type"].astype(str) + ": " + runs["error_message"].astype(str)
    return text.where(runs["error_type"].astype(str) != "", "")
