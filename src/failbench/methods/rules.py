"""Rules as data: conditions on error text and on features, and how they are held against runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.methods.diagnosis import Evidence
from failbench.methods.healthy_band import HealthyBand
from failbench.scenarios import Category

Side = Literal["above", "below"]


@dataclass(frozen=True)
class ErrorMatches:
    """The error text ``"<type>: <message>"`` matches a regular expression, case included."""

    pattern: str

    def holds(self, runs: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Of each run, whether it matches; no text matches nothing."""
        found = error_text(runs).str.contains(self.pattern, regex=True)
        return np.asarray(found, dtype=bool)

    def evidence(self, run: pd.DataFrame) -> Evidence:
        """What matched in a frame of one run."""
        match = re.search(self.pattern, error_text(run).iloc[0])
        return Evidence("error_text", match.group(0) if match else "", "matches", self.pattern)


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

    def evidence(self, run: pd.DataFrame) -> Evidence:
        """The value in a frame of one run."""
        return Evidence(self.feature, float(run[self.feature].iloc[0]), self.side, self.threshold)


@dataclass(frozen=True)
class LeavesBand:
    """A feature lies outside the healthy band, on one side."""

    feature: str
    side: Side

    def resolve(self, band: HealthyBand, sds: float) -> Crosses:
        """The same condition with its number filled in."""
        edge = band.upper if self.side == "above" else band.lower
        return Crosses(self.feature, self.side, edge(self.feature, sds))


@dataclass(frozen=True)
class PassesLimit:
    """A feature lies above a limit that a setting of the method gives by name."""

    feature: str
    setting: str


Condition = ErrorMatches | Crosses
Declared = ErrorMatches | Crosses | LeavesBand | PassesLimit


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


def resolve(rule: Rule, band: HealthyBand, sds: float, limits: dict[str, float]) -> ResolvedRule:
    """Fill in the numbers of a rule: band edges, and limits by name of setting."""
    conditions: list[Condition] = []
    for condition in rule.conditions:
        match condition:
            case LeavesBand():
                conditions.append(condition.resolve(band, sds))
            case PassesLimit():
                limit = limits[condition.setting]
                conditions.append(Crosses(condition.feature, "above", limit))
            case _:
                conditions.append(condition)
    return ResolvedRule(rule.name, rule.category, tuple(conditions))


def error_text(runs: pd.DataFrame) -> pd.Series[str]:
    """``"<type>: <message>"`` of each run, empty where there was no error."""
    text = runs["error_type"].astype(str) + ": " + runs["error_message"].astype(str)
    return text.where(runs["error_type"].astype(str) != "", "")
