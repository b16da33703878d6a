"""Skill: the documented thresholds of the agent skill ml-training-debugger 1.0.0 (MIT), as rules.

``data/skill_rules.csv`` holds those that a log can be held against; what an agent would make of an
error message is no threshold. Confidences are of its scale (SKILL.md, Core Principles 3): over 90 %
for direct evidence, for which the 95 % of its example stands, and two issues of a run; 70 to 90 %
for circumstantial, of which the middle; 60 % stands for less, as any number below 70 % would.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Annotated, Final, Literal

import numpy as np
import polars as pl
from scipy.signal import savgol_filter

from failbench.base.arrays import Array
from failbench.base.records import InCell, Record
from failbench.neighbours.peers import verdicts
from failbench.neighbours.peers.rules import BEYOND, Relation

PEER: Final = "ml_training_debugger"
TELEMETRY: Final = "telemetry"  # the format of its verdicts: every signal at every step
EvidenceLevel = Literal["direct", "circumstantial", "hint"]

CONFIDENCES: Final[dict[EvidenceLevel, float]] = {
    "direct": 0.95,
    "circumstantial": 0.80,
    "hint": 0.60,
}

POLYNOMIAL: Final = 3  # order of the filter for noise; the documentation has window 11


@dataclass(frozen=True)
class Curves:
    """Series of one run, in the order in which they were logged; a logged NaN stays one."""

    loss: Array
    grad_norm: Array
    learning_rate: Array
    validation: Array
    training: Array

    @property
    def gap(self) -> Array:
        """Distance from each validation as a share of it, without a sign, as documented."""
        with np.errstate(all="ignore"):
            gap = np.abs(self.training - self.validation) / np.abs(self.validation)
        return np.where(np.isfinite(gap), gap, np.nan)


def _rise_over_rolling(values: Array, window: int, margin: float) -> float:
    """The largest rise over a centred window, a window before, in its deviations; else 0."""
    behind = window + window // 2
    if values.size <= behind:
        return np.nan
    windows = np.lib.stride_tricks.sliding_window_view(values, window)[: values.size - behind]
    mean, deviation = windows.mean(axis=1), windows.std(axis=1, ddof=1)
    later = values[behind:]
    rises = (later > mean + margin * np.abs(mean)) & (deviation > 0)
    return float(((later - mean)[rises] / deviation[rises]).max()) if rises.any() else 0.0


def _thirds(values: Array) -> tuple[float, float]:
    """Means of the first and of the last third."""
    third = values.size // 3
    if third == 0 or values[:third].mean() == 0:
        return np.nan, np.nan
    return float(values[:third].mean()), float(values[-third:].mean())


def _last_over_first_third(values: Array, _window: int, _margin: float) -> float:
    first, last = _thirds(values)
    return last / first


def _change_of_thirds(values: Array, _window: int, _margin: float) -> float:
    """How far the mean of the last third is from that of the first, as a share of it."""
    first, last = _thirds(values)
    return abs(last - first) / abs(first)


def _longest_flat(values: Array, _window: int, margin: float) -> float:
    """Most values in a row whose slope is below the slope that a share of all values lie below."""
    if values.size < 2:
        return np.nan
    slopes = np.abs(np.gradient(values))
    rows = groupby(slopes < np.quantile(slopes, margin))
    return float(max((len([*row]) for is_flat, row in rows if is_flat), default=0))


def _noise(values: Array, window: int, _margin: float) -> float:
    """Standard deviation of what a Savitzky-Golay filter takes away, as a share of the mean."""
    if values.size < window or values.mean() == 0:
        return np.nan
    residual = values - savgol_filter(values, window, POLYNOMIAL)
    return float(residual.std() / abs(values.mean()))


OF_ALL: Final = ("not_finite", "mean_of_last")  # statistics of values that are no numbers too

# from values, a window and a margin to a number; NaN where the curve is too short for it
STATISTICS: Final[dict[str, Callable[[Array, int, float], float]]] = {
    "not_finite": lambda values, *_: float(np.count_nonzero(~np.isfinite(values))),
    "mean_of_last": lambda values, window, _: (
        float(values[-window:].mean()) if values.size >= window else np.nan
    ),
    "largest": lambda values, *_: float(values.max()) if values.size else np.nan,
    "smallest": lambda values, *_: float(values.min()) if values.size else np.nan,
    "variance_of_last": lambda values, window, _: (
        float(values[-window:].var()) if values.size >= window else np.nan
    ),
    "rise_over_rolling": _rise_over_rolling,
    "last_over_first_third": _last_over_first_third,
    "change_of_thirds": _change_of_thirds,
    "longest_flat": _longest_flat,
    "noise": _noise,
}


class SkillRule(Record):
    """A documented threshold; a row of ``skill_rules.csv``."""

    issue: str
    signal: Literal["loss", "grad_norm", "learning_rate", "gap"]
    statistic: str
    relation: Relation
    threshold: float
    window: int = 0
    margin: float = 0.0
    severity: str
    level: EvidenceLevel
    confirmed_by: Annotated[frozenset[str], InCell] = frozenset()
    section: str

    def fires(self, curves: Curves) -> bool:
        """Whether the curves are beyond the threshold; never where they are too short to tell."""
        values: Array = getattr(curves, self.signal)
        if self.statistic not in OF_ALL:
            values = values[np.isfinite(values)]
        measured = STATISTICS[self.statistic](values, self.window, self.margin)
        return bool(BEYOND[self.relation](measured, self.threshold))

    @property
    def rank(self) -> int:
        """Place of its severity, the most severe first."""
        return verdicts.SEVERITIES.index(self.severity)


@cache
def skill_rules() -> tuple[SkillRule, ...]:
    """All rules, in the order of the file."""
    return tuple(SkillRule.model_validate(row) for row in verdicts.rows_of("skill_rules.csv"))


def skill_verdicts(steps: pl.DataFrame, runs: pl.Series) -> pl.DataFrame:
    """What the skill's documented thresholds say of recorded telemetry, as a peer's verdicts."""
    kept = steps.filter(pl.col("run_id").is_in(runs.implode())).sort("run_id", "step")
    by_run = kept.partition_by("run_id", as_dict=True)
    version = verdicts.standards()[PEER].version
    rows = []
    for run in runs:
        reading = reading_of_curves(recorded_curves(by_run.get((run,), steps.clear())))
        rows.append(verdicts.verdict_row(run, TELEMETRY, PEER, version, "", reading))
    return pl.DataFrame(rows, schema=verdicts.VERDICT_SCHEMA)


def reading_of_curves(curves: Curves) -> verdicts.Reading:
    """What the documented thresholds say of the series of a run."""
    fired = [rule for rule in skill_rules() if rule.fires(curves)]
    issues = {rule.issue for rule in fired}
    worst: dict[str, SkillRule] = {}
    for rule in fired:
        worst[rule.issue] = min(worst.get(rule.issue, rule), rule, key=lambda each: each.rank)
    confidences = {
        rule.issue: CONFIDENCES["direct" if rule.confirmed_by & issues else rule.level]
        for rule in worst.values()
    }
    found = sorted(worst.values(), key=lambda rule: (rule.rank, -confidences[rule.issue]))
    return verdicts.Reading(
        tuple(rule.issue for rule in found),
        tuple(rule.severity for rule in found),
        tuple(confidences[rule.issue] for rule in found),
    )


def recorded_curves(steps: pl.DataFrame) -> Curves:
    """The series of a recorded run, as a log of every step would have them."""
    pairs = steps.select("validation_loss", training=pl.col("loss").forward_fill()).drop_nulls()
    trained = (steps[name].drop_nulls() for name in ("loss", "gradient_norm", "learning_rate"))
    series = (*trained, pairs["validation_loss"], pairs["training"])
    return Curves(*(each.cast(pl.Float64).to_numpy() for each in series))
