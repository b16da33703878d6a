"""Skill: the documented thresholds of the agent skill ml-training-debugger, as rules.

The skill (version 1.0.0, MIT) has an agent read logs and code; its documentation and the scripts
beside it state thresholds. ``data/skill_rules.csv`` holds those that a log can be held against; of
the others (share of parameters in embeddings, gradients of each layer, code) a log says nothing.
What an agent would make of an error message is no threshold, so that messages are not read here.

Confidences follow the skill's own scale (SKILL.md, Core Principles 3): above 90 % where evidence is
direct, 70 to 90 % where it is circumstantial, below 70 % where more data should be asked for. The
one example of a loss that rises with its gradients is stated with 95 %; this stands for direct
evidence and for two issues of a run that confirm each other. Of circumstantial evidence the middle
of its range is taken. The documentation has no number for less: 60 % stands for it, and any number
below 70 % would give the same answers.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from failbench.diagnose.readers.log import Log
from failbench.neighbours.peers.curve_statistics import STATISTICS, Measured
from failbench.neighbours.peers.curves import SIGNALS, Curves, curves_of
from failbench.neighbours.peers.standards import SEVERITIES
from failbench.neighbours.peers.verdicts import Reading

PEER: Final = "ml_training_debugger"

Relation = Literal["above", "below", "at_least"]
EvidenceLevel = Literal["direct", "circumstantial", "hint"]

CONFIDENCES: Final[dict[EvidenceLevel, float]] = {
    "direct": 0.95,
    "circumstantial": 0.80,
    "hint": 0.60,
}


@dataclass(frozen=True)
class SkillRule:
    """A documented threshold."""

    issue: str
    of: Measured
    statistic: str
    relation: Relation
    threshold: float
    severity: str
    level: EvidenceLevel
    confirmed_by: frozenset[str]
    section: str

    def fires(self, curves: Curves) -> bool:
        """Whether the curves are beyond the threshold; never where they are too short to tell."""
        value = STATISTICS[self.statistic](curves, self.of)
        if value is None:
            return False
        if self.relation == "above":
            return value > self.threshold
        return value < self.threshold if self.relation == "below" else value >= self.threshold


@cache
def skill_rules() -> tuple[SkillRule, ...]:
    """All rules, in the order of the file."""
    text = files("failbench.neighbours.peers").joinpath("data/skill_rules.csv").read_text("utf-8")
    rules = tuple(_rule(row) for row in csv.DictReader(text.splitlines()))
    issues = {rule.issue for rule in rules}
    for rule in rules:
        if not rule.confirmed_by <= issues:
            raise ValueError(f"{rule.issue!r} is confirmed by an issue that there is not.")
    return rules


def _rule(row: dict[str, str]) -> SkillRule:
    relation = next((name for name in get_args(Relation) if name == row["relation"]), None)
    level = next((name for name in CONFIDENCES if name == row["level"]), None)
    if relation is None or level is None:
        raise ValueError(f"{row['issue']}: {row['relation']!r} or {row['level']!r} is not known.")
    for name, known in (
        (row["signal"], SIGNALS),
        (row["statistic"], tuple(STATISTICS)),
        (row["severity"], SEVERITIES),
    ):
        if name not in known:
            raise ValueError(f"{row['issue']}: {name!r} is none of {', '.join(known)}.")
    return SkillRule(
        row["issue"],
        Measured(row["signal"], int(row["window"] or 0), float(row["margin"] or 0.0)),
        row["statistic"],
        relation,
        float(row["threshold"]),
        row["severity"],
        level,
        frozenset(name for name in row["confirmed_by"].split(";") if name),
        row["section"],
    )


def skill_reading(log: Log) -> Reading:
    """What the documented thresholds say of a log, as a reading like that of any peer."""
    return reading_of_curves(curves_of(log))


def reading_of_curves(curves: Curves) -> Reading:
    """What the documented thresholds say of the series of a run."""
    fired = [rule for rule in skill_rules() if rule.fires(curves)]
    issues = {rule.issue for rule in fired}
    worst: dict[str, SkillRule] = {}
    for rule in fired:
        known = worst.get(rule.issue)
        if known is None or _rank(rule) < _rank(known):
            worst[rule.issue] = rule
    found = sorted(
        ((_rank(rule), -_confidence(rule, issues), rule) for rule in worst.values()),
        key=lambda item: item[:2],
    )
    return Reading(
        tuple(rule.issue for _, _, rule in found),
        tuple(rule.severity for _, _, rule in found),
        tuple(-confidence for _, confidence, _ in found),
    )


def _rank(rule: SkillRule) -> int:
    return SEVERITIES.index(rule.severity)


def _confidence(rule: SkillRule, issues: set[str]) -> float:
    return CONFIDENCES["direct" if rule.confirmed_by & issues else rule.level]
