"""Rules as data: conditions on error text and on features, and their evaluation on runs.

In the tables of ``data/`` a condition on a feature reads ``max_loss above band`` (outside of the
healthy band), ``peak_memory not above band`` (known, and not outside of it), ``memory_warning above
0.5``, or ``perplexity above perplexity``, a setting of the method.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import cast

import numpy as np
import pandas as pd

from failbench.base.arrays import Mask
from failbench.base.verdicts import OPPOSITE, Evidence, Side
from failbench.base.vocabulary import ERROR_TEXT_SIGNAL
from failbench.methods.healthy import Band


@dataclass(frozen=True)
class ErrorMatches:
    """The error text ``"<type>: <message>"`` matches a regular expression, case included."""

    pattern: str

    def holds(self, runs: pd.DataFrame) -> Mask:
        """Whether each run matches; without error text none does."""
        return np.asarray(error_text(runs).str.contains(self.pattern, regex=True), dtype=bool)

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """The words of each run that matched; empty where none did."""
        matches = [re.search(self.pattern, text) for text in error_text(runs)]
        return [
            Evidence(ERROR_TEXT_SIGNAL, match.group(0) if match else "", "matches", self.pattern)
            for match in matches
        ]


@dataclass(frozen=True)
class Crosses:
    """A feature lies on one side of a number; a missing value lies on neither."""

    feature: str
    side: Side
    threshold: float

    def holds(self, runs: pd.DataFrame) -> Mask:
        """Whether each run crosses the threshold."""
        values = runs[self.feature].to_numpy(dtype=float)
        return np.asarray(
            values > self.threshold if self.side == "above" else values < self.threshold
        )

    def evidence(self, runs: pd.DataFrame) -> list[Evidence]:
        """The value of each run and its side; where missing, the side of the condition."""
        values = runs[self.feature].to_numpy(dtype=float)
        sides = np.where(self.holds(runs) | np.isnan(values), self.side, OPPOSITE[self.side])
        return [
            Evidence(self.feature, value, cast("Side", side), self.threshold)
            for value, side in zip(values.tolist(), sides.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class LeavesBand:
    """A feature lies outside the healthy band, on one side."""

    feature: str
    side: Side


@dataclass(frozen=True)
class StaysInBand:
    """A feature is known and does not leave the healthy band on one side."""

    feature: str
    side: Side


@dataclass(frozen=True)
class PassesLimit:
    """A feature lies above a limit, which is a setting of the method."""

    feature: str
    setting: str


Condition = ErrorMatches | Crosses
Declared = ErrorMatches | Crosses | LeavesBand | StaysInBand | PassesLimit
Conditions = tuple[Declared, ...]  # all of which must hold


def resolve(
    conditions: Iterable[Declared], band: Band, sds: float, limits: Mapping[str, float]
) -> tuple[Condition, ...]:
    """Fill in thresholds: edges of the band, and limits by name of setting."""

    def resolved(condition: Declared) -> Condition:
        match condition:
            case LeavesBand(feature, side) | StaysInBand(feature, side):
                edge = (band.upper if side == "above" else band.lower)(feature, sds)
                leaves = isinstance(condition, LeavesBand)
                return Crosses(feature, side if leaves else OPPOSITE[side], edge)
            case PassesLimit(feature, setting):
                return Crosses(feature, "above", limits[setting])
            case _:
                return condition

    return tuple(map(resolved, conditions))


class EvaluatedConditions:
    """Resolved conditions evaluated on the same runs, each computed once."""

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        self._holds: dict[Declared, Mask] = {}
        self._evidence: dict[Declared, list[Evidence]] = {}

    def holds(self, condition: Declared) -> Mask:
        """Whether the condition holds for each run."""
        if condition not in self._holds:
            self._holds[condition] = cast("Condition", condition).holds(self.runs)
        return self._holds[condition]

    def all_hold(self, conditions: Iterable[Declared]) -> Mask:
        """Whether all conditions hold for each run; true without conditions."""
        holds = np.ones(len(self.runs), dtype=bool)
        for condition in conditions:
            holds &= self.holds(condition)
        return holds

    def evidence(self, condition: Declared) -> list[Evidence]:
        """The value or words of each run that the condition looks at."""
        if condition not in self._evidence:
            self._evidence[condition] = cast("Condition", condition).evidence(self.runs)
        return self._evidence[condition]


def features_of(conditions: Iterable[Declared]) -> set[str]:
    """Features that conditions look at."""
    return {each.feature for each in conditions if not isinstance(each, ErrorMatches)}


def features_of_band(conditions: Iterable[Declared]) -> tuple[str, ...]:
    """Features whose healthy band the conditions need, sorted."""
    return tuple(
        sorted(
            features_of(each for each in conditions if isinstance(each, LeavesBand | StaysInBand))
        )
    )


def error_text(runs: pd.DataFrame) -> pd.Series[str]:
    """``"<type>: <message>"`` of each run, empty where there was no error."""
    text = runs["error_type"].astype(str) + ": " + runs["error_message"].astype(str)
    return text.where(runs["error_type"].astype(str) != "", "")


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of a table of ``data/``."""
    text = files("failbench.methods").joinpath(f"data/{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def parts(cell: str) -> list[str]:
    """What stands in a cell, parted by semicolons."""
    return cell.split("; ") if cell else []


def on_feature(phrase: str) -> Declared:
    """The condition that a table has as a phrase.

    >>> on_feature("max_loss not above band"), on_feature("oov_rate above 0.5")
    (StaysInBand(feature='max_loss', side='above'), Crosses(feature='oov_rate', side='above', \
threshold=0.5))
    """
    feature, *negation, word, edge = phrase.split()
    side = cast("Side", word)
    if edge == "band":
        return (StaysInBand if negation else LeavesBand)(feature, side)
    if edge.isidentifier():
        return PassesLimit(feature, edge)
    return Crosses(feature, side, float(edge))
