"""The report of the study of peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from failbench.reporting.cells import with_interval
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.peers.best_thresholds import OBJECTIVES, with_best_thresholds
from failbench.studies.peers.elsewhere import Asked, Elsewhere
from failbench.studies.peers.figure import best_peer, peers_picture
from failbench.studies.peers.results import (
    chosen_table,
    coverage_table,
    detail_table,
    missing_table,
    rate_table,
    rule_table,
)
from failbench.studies.peers.said import PACKAGE
from failbench.studies.peers.schemas import DOCUMENTED, SAID_SCHEMA
from failbench.studies.peers.settings import PeersStudy
from failbench.studies.peers.shown import Shown, label
from failbench.studies.peers.tables import tables


def report(
    peers: pl.DataFrame,
    elsewhere: Elsewhere,
    ours: pl.DataFrame,
    alarms: pl.DataFrame,
    runs: pl.DataFrame,
    splits: pl.DataFrame,
    reads: Mapping[str, str],
    settings: PeersStudy,
    intervals: ScenarioIntervalSettings,
) -> StudyReport:
    """What other tools make of the benchmark's runs, as documented and at their best, and ours."""
    documented = pl.concat([peers.filter(choice=DOCUMENTED), elsewhere.said, ours])
    judged_runs = pl.concat([runs, elsewhere.runs])
    best = pl.concat(
        with_best_thresholds(peers, runs, splits, objective).with_columns(
            objective=pl.lit(objective)
        )
        for objective in OBJECTIVES
    )
    judged = best.with_columns(choice="objective").select(*SAID_SCHEMA)
    shown = Shown(
        rates=rounded(rate_table(pl.concat([documented, judged]), judged_runs, intervals)),
        detail=rounded(detail_table(documented, judged_runs, intervals.confidence)),
        rules=rule_table(alarms, runs),
        coverage=coverage_table(),
        missing=missing_table(),
        chosen=chosen_table(best),
        runs=runs,
        elsewhere=elsewhere,
        reads=reads,
        methods=settings.methods,
        repeats=splits["repeat"].n_unique(),
        folds=splits["fold"].n_unique(),
        repeats_of_methods=ours["repeat"].n_unique(),
        confidence=intervals.confidence,
    )
    metrics: dict[str, Any] = {
        "rates": nest(shown.rates, "choice", "method", "metric"),
        "rules": nest(shown.coverage, "peer", leaves=("exact", "mapped", "not_applicable")),
    }
    return StudyReport(
        metrics=metrics,
        points={
            "peers": shown.rates,
            "peers_detail": shown.detail,
            "peers_rules": shown.rules,
            "peers_chosen": shown.chosen,
            "peers_elsewhere": elsewhere.issues,
        },
        tables=tables(shown),
        figures={"peers": peers_picture(shown)},
        sentences={"finding": _finding(shown)},
        summary=(
            Summary.of(
                shown.rates.filter(
                    pl.col("metric").is_in(["detected", "alarm_twin", "accuracy"]),
                    choice=DOCUMENTED,
                ),
                "method",
                "metric",
                "value",
                "ci_low",
                "ci_high",
                "n",
            ),
        ),
    )


def _finding(shown: Shown) -> str:
    def cell(method: str, metric: str, choice: str = DOCUMENTED) -> str:
        row = shown.rate(choice, method, metric)
        assert row is not None  # every peer and the package have these
        return with_interval(row["value"], row["ci_low"], row["ci_high"])

    rules = shown.by_group["rules"]
    counts = {name: shown.coverage[name].sum() for name in ("exact", "mapped", "not_applicable")}
    highest = shown.rates.filter(
        pl.col("method").is_in(rules), choice=DOCUMENTED, metric="accuracy"
    ).sort("value", "method", descending=[True, False])["method"][0]
    most = shown.rates.filter(pl.col("method").is_in(rules), choice=DOCUMENTED, metric="gain").sort(
        "value", "method", descending=[True, False]
    )["method"][0]
    best = best_peer(shown)
    return (
        f"Of {sum(counts.values())} documented rules of {shown.coverage.height} peers "
        f"{counts['exact']} are held against what they are for, {counts['mapped']} against a "
        f"stand-in, and {counts['not_applicable']} have no signal in the telemetry or no "
        f"threshold. As documented the rules of {label(most)} tell failing runs best from healthy "
        f"ones: they alarm {cell(most, 'detected')} % of failing runs and "
        f"{cell(most, 'alarm_twin')} % of healthy twins; the most categories are named right by "
        f"those of {label(highest)}, {cell(highest, 'accuracy')} %. Of all other tools "
        f"{label(best)} does best, on complete logs: {cell(best, 'detected')} % and "
        f"{cell(best, 'alarm_twin')} %, and {cell(best, 'accuracy')} % of categories. With "
        f"thresholds chosen for detection on other scenarios the largest difference between "
        f"failing runs and twins is {_largest_gain(shown)} %. {label(PACKAGE)}, which is not told "
        f"that a run failed either, alarms {cell(PACKAGE, 'detected')} % and "
        f"{cell(PACKAGE, 'alarm_twin')} %, and names {cell(PACKAGE, 'accuracy')} % of categories "
        f"right.{_asked_elsewhere(shown, cell)}\n"
    )


def _asked_elsewhere(shown: Shown, cell: Callable[[str, str], str]) -> str:
    methods = shown.by_group["elsewhere"]
    text = ""
    for asked in map(Asked.of, methods):
        assert asked is not None  # as all methods of the group
        if asked.read:
            continue
        method, read = asked.method, replace(asked, read=True).method
        text += f" {label(method)} was asked about {shown.sizes(method)['failure']} failing runs "
        if read not in methods:
            text += "and read none."
            continue
        text += (
            f"and alarms {cell(method, 'detected')} %, of the {shown.sizes(read)['failure']} that "
            f"it could read {cell(read, 'detected')} %, and of their healthy twins "
            f"{cell(read, 'alarm_twin')} %; it names {cell(method, 'accuracy')} % of categories "
            f"right, of those that it could read {cell(read, 'accuracy')} %."
        )
    return text


def _largest_gain(shown: Shown) -> str:
    gains = shown.rates.filter(choice="best_detection", metric="gain").sort(
        "value", "method", descending=[True, False]
    )
    row = gains.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])
