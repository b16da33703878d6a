"""Results of the study of peers: detection, false alarms, categories, and how early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from failbench.peers.rules import SCOPES, peer_rules, rule_peers
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import (
    over_committed,
    over_scenarios,
    over_those,
    right,
)
from failbench.statistics.scores import scenario_answers
from failbench.studies.peers.lead import lead_interval
from failbench.studies.peers.pairs import pair_figures
from failbench.studies.peers.schemas import DOCUMENTED
from failbench.vocabulary import ABSTAIN, CATEGORIES

RATE_KEYS: Final = ("choice", "method", "metric")

ENDS_ITSELF, RUNS_ON = "ends_itself", "runs_on"
"""Groups of failing runs beside categories: whether anybody needs a tool to see the failure."""


def rate_table(
    said: pl.DataFrame, runs: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of each method, by the choice of its thresholds.

    How early alarms come and what a person checks is told of documented thresholds alone.
    """
    labelled = said.join(runs, on="run_id")
    parts = []
    for (choice, method), group in labelled.group_by("choice", "method", maintain_order=True):
        rates = _rates(group, intervals, whole=choice == DOCUMENTED)
        parts.append(estimate_rows(rates, choice=str(choice), method=str(method)))
    return pl.concat(parts)


def _rates(
    said: pl.DataFrame, intervals: ScenarioIntervalSettings, *, whole: bool
) -> dict[str, Interval]:
    failing = said.filter(kind="failure")
    figures = [*_category_figures(failing), *_alarm_figures(failing)]
    if failing["detected"].is_not_null().any():
        figures += pair_figures(said, whole=whole)
    if whole:
        figures += _course_figures(failing)
    rates = dict(scenario_intervals(scenario_answers(failing), (), intervals, tuple(figures)))
    for kind in ("success", "twin"):
        healthy = said.filter(pl.col("detected").is_not_null(), kind=kind)
        if healthy.height:
            rates[f"alarm_{kind}"] = _share_of_runs(healthy, intervals.confidence)
    if whole and _has_steps(failing):
        rates["lead"] = lead_interval(failing, intervals)
    return rates


def _has_steps(failing: pl.DataFrame) -> bool:
    return failing.filter("detected", pl.col("step").is_not_null()).height > 0


def _course_figures(failing: pl.DataFrame) -> Iterator[ValueMetric]:
    if failing["conditions"].is_not_null().any():
        yield ValueMetric(
            "conditions",
            over_scenarios(failing, pl.col("conditions")),
            "conditions to check in order to verify what is said of a run of a new scenario",
        )
    if _has_steps(failing):
        yield ValueMetric(
            "premature",
            over_those(failing, pl.col("step") < pl.col("onset_step"), pl.col("detected")),
            "probability that the first alarm precedes the fault, given that there is one",
            kind="proportion",
        )


def _category_figures(failing: pl.DataFrame) -> Iterator[ValueMetric]:
    named = pl.col("prediction") != ABSTAIN
    yield ValueMetric(
        "accuracy",
        over_scenarios(failing, right()),
        "probability that the category of a run of a new scenario is named right",
        kind="proportion",
    )
    yield ValueMetric(
        "named",
        over_scenarios(failing, named),
        "probability that a category is named of it",
        kind="proportion",
    )
    if failing.filter(named).height:
        yield ValueMetric(
            "named_accuracy",
            over_committed(failing, right()),
            "probability that its category is right, given that one is named",
            kind="proportion",
        )


def _alarm_figures(failing: pl.DataFrame) -> Iterator[ValueMetric]:
    watching = failing.filter(pl.col("detected").is_not_null())
    if watching.is_empty():
        return
    yield ValueMetric(
        "detected",
        over_scenarios(watching, pl.col("detected")),
        "probability of an alarm in a failing run of a new scenario",
        kind="proportion",
    )


def _share_of_runs(healthy: pl.DataFrame, confidence: float) -> Interval:
    of_runs = healthy.group_by("run_id").agg(pl.col("detected").mean()).sort("run_id")
    value, n = float(of_runs["detected"].to_numpy().mean()), of_runs.height
    low, high = wilson(value, n, confidence)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=n,
        method="Wilson",
        resampling_unit="run",
        estimand="probability of an alarm in a healthy run",
    )


def detail_table(said: pl.DataFrame, runs: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Detection and accuracy by the category of the cause, and by how runs end."""
    failing = said.filter(choice=DOCUMENTED).join(runs.filter(kind="failure"), on="run_id")
    groups = {str(category): pl.col("category") == category for category in CATEGORIES}
    groups |= {ENDS_ITSELF: pl.col("ends_itself"), RUNS_ON: ~pl.col("ends_itself")}
    rows: list[dict[str, Any]] = []
    for (method,), of_method in failing.group_by("method", maintain_order=True):
        for group, is_member in groups.items():
            members = of_method.filter(is_member)
            for metric, figure in (("detected", pl.col("detected")), ("accuracy", right())):
                known = members.filter(figure.is_not_null())
                if known.is_empty():
                    continue
                means = known.group_by("scenario").agg(value=figure.mean()).sort("scenario")
                value, n = float(means["value"].to_numpy().mean()), means.height
                low, high = wilson(value, n, confidence)
                rows.append(
                    {
                        "method": method,
                        "group": group,
                        "metric": metric,
                        "value": value,
                        "ci_low": low,
                        "ci_high": high,
                        "n": n,
                        "runs": known["run_id"].n_unique(),
                    }
                )
    return pl.DataFrame(rows)


def rule_table(alarms: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """In how many runs of each kind each rule fires as documented."""
    fired = alarms.filter(factor=1.0).join(runs.select("run_id", "kind"), on="run_id")
    counts = [
        (pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind)
        for kind in ("failure", "twin", "success")
    ]
    return fired.group_by("peer", "rule").agg(*counts).sort("peer", "rule")


def coverage_table() -> pl.DataFrame:
    """How many rules of each peer are held against what is recorded, and how."""
    counts = {peer: dict.fromkeys(SCOPES, 0) for peer in rule_peers()}
    for rule in peer_rules():
        counts[rule.peer][rule.scope] += 1
    return pl.DataFrame([{"peer": peer, **of_peer} for peer, of_peer in counts.items()])


def missing_table() -> pl.DataFrame:
    """Which signals the rules that do not apply are for."""
    rules = [rule for rule in peer_rules() if not rule.applies]
    table = pl.DataFrame(
        {"missing": [rule.missing for rule in rules], "peer": [rule.peer for rule in rules]}
    )
    return (
        table.group_by("missing", maintain_order=True)
        .agg(rules=pl.len().cast(pl.Int64), peers=pl.col("peer").unique(maintain_order=True))
        .sort("rules", descending=True, maintain_order=True)
    )


def chosen_table(best: pl.DataFrame) -> pl.DataFrame:
    """How often each choice of thresholds was made, by objective and peer."""
    folds = best.select("objective", "method", "repeat", "fold", "choice").unique()
    return (
        folds.group_by("objective", "method", "choice")
        .agg(folds=pl.len().cast(pl.Int64))
        .sort("objective", "method", "folds", "choice", descending=[False, False, True, False])
    )
