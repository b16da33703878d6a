"""The report of the outside list: published bugs, re-created and watched by the monitor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from failbench.monitor.invariants import Bound
from failbench.monitor.signals import Level
from failbench.monitored.tables import Monitored
from failbench.outside_list.bugs import Bug
from failbench.reporting.cells import with_interval
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.outside_list.results import (
    LEVELS,
    Judged,
    OutsideListSettings,
    Share,
    judge,
    shares,
)
from failbench.studies.outside_list.tables import (
    TRAINCHECK_BUGS,
    TRAINCHECK_DETECTED,
    outside_list_tables,
)

POINTS = pl.Schema(
    {
        "level": pl.String,
        "bug": pl.String,
        "component": pl.String,
        "ranks": pl.Int64,
        "onset": pl.Int64,
        "answer": pl.String,
        "detected": pl.Boolean,
        "told_apart": pl.Boolean,
        "named": pl.Boolean,
        "steps": pl.Int64,
        "first_broken": pl.String,
        "value": pl.Float64,
        "twin_answer": pl.String,
        "twin_broken": pl.String,
    }
)


def report(
    monitored: Monitored,
    bugs: Sequence[Bug],
    fitted: Mapping[str, Bound],
    settings: OutsideListSettings,
) -> StudyReport:
    """Say what the monitor detects of published bugs, whose it says they are, and how fast."""
    judged = {level: judge(monitored, bugs, fitted, level) for level in LEVELS}
    counted = {level: shares(judged[level], settings.confidence) for level in LEVELS}
    points = pl.DataFrame(
        [_point(each) for level in LEVELS for each in judged[level]], schema=POINTS
    )
    columns = ("level", "bug", "answer", "steps", "first_broken", "twin_broken")
    return StudyReport(
        metrics={
            level: {name: _metric(each) for name, each in counted[level].items()}
            for level in LEVELS
        },
        points={"outside_list": rounded(points)},
        tables=outside_list_tables(judged, counted, bugs, settings.bounds, settings.confidence),
        sentences={"finding": finding(counted)},
        summary=(Summary.of(points, *columns),),
    )


def finding(counted: Mapping[Level, Mapping[str, Share]]) -> str:
    """What is detected and named of the bugs, at the level that a user gets first."""

    def said(level: Level) -> str:
        detected, named, apart = (
            f"{each.count} ({with_interval(each.value, each.ci_low, each.ci_high)} %)"
            for each in map(
                counted[level].__getitem__, ("detected", "named", "told_apart_and_named")
            )
        )
        return (
            f"detects {detected}, names the category of {named}, and of {apart} by what holds in "
            f"the twin"
        )

    first, *others = LEVELS
    alarms = counted[first]["twin_alarm"]
    later = "".join(f"; at level {level} it {said(level)}" for level in others)
    return (
        f"Of {alarms.n} published bugs that were re-created the monitor, at level {first}, which a "
        f"user gets unless told otherwise, {said(first)}{later}. It alarms {alarms.count} of "
        f"{alarms.n} healthy twins at level {first}. Within one step it detects "
        f"{counted[first]['within_one_step'].count}; TrainCheck publishes "
        f"{TRAINCHECK_DETECTED} of its own {TRAINCHECK_BUGS} within one iteration.\n"
    )


def _metric(each: Share) -> dict[str, float]:
    return {
        "value": each.value,
        "ci_low": each.ci_low,
        "ci_high": each.ci_high,
        "count": each.count,
        "n": each.n,
    }


def _point(judged: Judged) -> dict[str, Any]:
    first = judged.first
    return {
        "level": judged.level,
        "bug": judged.bug.id,
        "component": judged.bug.component,
        "ranks": judged.bug.ranks,
        "onset": judged.bug.onset,
        "answer": judged.faulty.answer,
        "detected": judged.detected,
        "told_apart": judged.told_apart,
        "named": judged.named,
        "steps": judged.steps,
        "first_broken": first and first.invariant.id,
        "value": first and first.value,
        "twin_answer": judged.twin.answer,
        "twin_broken": " ".join(each.invariant.id for each in judged.twin.breaks) or None,
    }
