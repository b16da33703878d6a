"""Rules: what other tools hold against thresholds, as data, and when they fire in a run.

``data/rules.csv`` has a row per condition: the signal, the statistic of it, the threshold as the
peer documents it, and where it does. A rule is the rows of one name; it fires when all of them
hold. A rule whose signal is not recorded is kept, with what is missing. One that is held against a
stand-in (the norm of all gradients in place of a layer's) says so.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

import numpy as np

from failbench.base.arrays import Array, Mask
from failbench.neighbours.peers.rule_signals import SIGNALS, Signal
from failbench.neighbours.peers.rule_statistics import RULE_STATISTICS
from failbench.neighbours.peers.standards import standards

Relation = Literal["above", "at_least", "below", "at_most"]
Scope = Literal["exact", "mapped", "not_applicable"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


@dataclass(frozen=True)
class Condition:
    """A threshold, and what is held against it."""

    signal: str
    statistic: str
    window: int
    margin: float
    relation: Relation
    threshold: float
    looks: int
    every: int

    def measured(self, signal: Signal) -> Signal:
        """The statistic of a run's signal at each look."""
        if signal.values.size == 0:
            return signal
        with np.errstate(all="ignore"):  # what is no number is beyond no threshold
            values = RULE_STATISTICS[self.statistic](signal.values, self.window, self.margin)
        looked = np.arange(self.every - 1, values.size, self.every)
        return Signal(signal.steps[looked], values[looked])

    def holds(self, measured: Signal, factor: float) -> Mask:
        """Whether the condition holds, at each look."""
        beyond = _beyond(measured.values, self.relation, self.threshold, factor)
        return _in_a_row(beyond, self.looks)


@dataclass(frozen=True)
class PeerRule:
    """A documented rule."""

    peer: str
    name: str
    issue: str
    scope: Scope
    conditions: tuple[Condition, ...]
    missing: str
    mapped: str
    source: str

    @property
    def applies(self) -> bool:
        """Whether it is held against anything."""
        return self.scope != "not_applicable"

    def first_firings(
        self, signals: Mapping[str, Signal], factors: Sequence[float] = (1.0,)
    ) -> tuple[int | None, ...]:
        """The first step at which all conditions hold, each as of its last look.

        Nothing after that step is read, so that a run that is watched step by step gives the same.
        """
        measured = [condition.measured(signals[condition.signal]) for condition in self.conditions]
        steps = np.unique(np.concatenate([each.steps for each in measured]))
        last = [np.searchsorted(each.steps, steps, side="right") for each in measured]
        firings = []
        for factor in factors:
            together = np.ones(steps.size, dtype=bool)
            for condition, of_condition, looked in zip(
                self.conditions, measured, last, strict=True
            ):
                # before its first look a condition does not hold
                together &= np.append(False, condition.holds(of_condition, factor))[looked]
            firings.append(int(steps[together.argmax()]) if together.any() else None)
        return tuple(firings)


@cache
def peer_rules() -> tuple[PeerRule, ...]:
    """All rules, in the order of the file, which is that in which alarms of one step count."""
    text = files("failbench.neighbours.peers").joinpath("data/rules.csv").read_text("utf-8")
    rules: dict[tuple[str, str], PeerRule] = {}
    for row in csv.DictReader(text.splitlines()):
        rule = _rule(row)
        known = rules.setdefault((rule.peer, rule.name), rule)
        if known is rule:
            continue
        if not rule.applies or (known.issue, known.scope) != (rule.issue, rule.scope):
            raise ValueError(f"{rule.peer}: rows of {rule.name!r} are of two rules.")
        rules[rule.peer, rule.name] = _with(known, rule.conditions)
    return tuple(rules.values())


def rules_of(peer: str) -> tuple[PeerRule, ...]:
    """The rules of a peer that apply; none if it has no rules, or none that applies."""
    return tuple(rule for rule in peer_rules() if rule.peer == peer and rule.applies)


def rule_peers() -> tuple[str, ...]:
    """Peers that have rules, in the order of the file."""
    return tuple(dict.fromkeys(rule.peer for rule in peer_rules()))


def _with(rule: PeerRule, conditions: tuple[Condition, ...]) -> PeerRule:
    return PeerRule(
        rule.peer,
        rule.name,
        rule.issue,
        rule.scope,
        rule.conditions + conditions,
        rule.missing,
        rule.mapped,
        rule.source,
    )


def _rule(row: Mapping[str, str]) -> PeerRule:
    name = f"{row['peer']}: {row['rule']}"
    scope = next((scope for scope in SCOPES if scope == row["scope"]), None)
    if scope is None or row["peer"] not in standards():
        raise ValueError(f"{name}: {row['scope']!r} is no scope, or it is of no peer.")
    applies = scope != "not_applicable"
    if (
        not row["source"]
        or bool(row["missing"]) == applies
        or bool(row["mapped"]) != (scope == "mapped")
    ):
        raise ValueError(f"{name}: says too little or too much of its source and its signal.")
    conditions = (_condition(row, name),) if applies else ()
    return PeerRule(
        row["peer"],
        row["rule"],
        row["issue"],
        scope,
        conditions,
        row["missing"],
        row["mapped"],
        row["source"],
    )


def _condition(row: Mapping[str, str], name: str) -> Condition:
    relation = next((known for known in get_args(Relation) if known == row["relation"]), None)
    if relation is None:
        raise ValueError(f"{name}: {row['relation']!r} is no relation.")
    for column, known in (("signal", tuple(SIGNALS)), ("statistic", tuple(RULE_STATISTICS))):
        if row[column] not in known:
            raise ValueError(f"{name}: {row[column]!r} is none of {', '.join(known)}.")
    return Condition(
        row["signal"],
        row["statistic"],
        int(row["window"] or 0),
        float(row["margin"] or 0.0),
        relation,
        float(row["threshold"]),
        int(row["looks"]),
        int(row["every"]),
    )


def _beyond(measured: Array, relation: Relation, threshold: float, factor: float) -> Mask:
    if relation == "above":
        return measured > threshold * factor
    if relation == "at_least":
        return measured >= threshold * factor
    if relation == "below":
        return measured < threshold / factor
    return measured <= threshold / factor


def _in_a_row(beyond: Mask, looks: int) -> Mask:
    """Where the last so many looks agree."""
    if looks == 1 or beyond.size == 0:
        return beyond
    return np.convolve(beyond, np.ones(looks, dtype=np.int64))[: beyond.size] >= looks
