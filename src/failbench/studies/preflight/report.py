"""The report of the study of preflights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.prediction.slices import ReferenceStudy
from failbench.preflighted.answers import LOOKS, Look
from failbench.reporting.cells import one_decimal, percent, with_interval
from failbench.reporting.scope import Scope
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.scenarios import Scenario
from failbench.studies.preflight.figure import preflight_picture
from failbench.studies.preflight.looked import SEED, Looked, looked_at
from failbench.studies.preflight.results import (
    COUNTED,
    SAID,
    SEVERE,
    PreflightSettings,
    Share,
    healthy_answers,
    margin_line,
    share,
)
from failbench.studies.preflight.tables import (
    DEVELOPMENT_NOTE,
    LOOK_LABELS,
    LOOKS_NOTE,
    RUNS_NOTE,
    SHARE_NOTE,
    TWIN_NOTE,
    Group,
    Spread,
    alarms_table,
    costs_table,
    crashes_table,
    scenarios_table,
)
from failbench.telemetry import Telemetry

MEBIBYTE: Final = 2**20

EARLY: Final[tuple[Look, Look]] = ("start", "onset")
"""Looks that every run has."""

POINTS: Final = pl.Schema(
    {
        "scenario": pl.String,
        "run": pl.String,
        "look": pl.String,
        "step": pl.Int64,
        "crashes": pl.Boolean,
        "reached": pl.Boolean,
        "foreseen": pl.Boolean,
        "right_category": pl.Boolean,
        "right_cause": pl.Boolean,
        "right_text": pl.Boolean,
        "worst": pl.String,
        "causes": pl.String,
    }
)


def report(
    answers: pl.DataFrame,
    recorded: Telemetry,
    scenarios: Sequence[Scenario],
    reference: ReferenceStudy,
    settings: PreflightSettings,
) -> StudyReport:
    """Say how many crashes preflights foresaw, how often they were wrong, and what they took."""
    looked = looked_at(answers, recorded, scenarios, reference)
    healthy = healthy_answers(answers, recorded, reference)
    confidence = settings.confidence
    groups = [_group(name, members, confidence) for name, members in _groups(looked)]
    alarms = list(_alarms(looked, healthy, confidence))
    costs = _costs(looked, healthy)
    compared = answers.filter(pl.col("compared_steps") > 0).unique("run_id")
    asked = recorded.runs.join(answers, on="run_id", how="semi").filter(kind="failure")
    scope = Scope.of(asked)
    notes = (
        DEVELOPMENT_NOTE,
        RUNS_NOTE.format(
            runs=scope.runs,
            scenarios=scope.scenarios,
            setting=scope.setting,
            seed=SEED,
            equal=int(compared["equal"].sum()),
            compared=compared.height,
        ),
    )
    crashing = groups[0].members
    of_looks = LOOKS_NOTE.format(
        at_once=sum(each.failure_step == each.failing["onset"].step for each in crashing),
        crashes=len(crashing),
        sooner=sum(each.ended_sooner for each in crashing),
        later=sum(each.ended_later for each in crashing),
    )
    shares = (SHARE_NOTE.format(interval=100 * confidence),)
    points = pl.DataFrame([*_points(looked)], schema=POINTS)
    line = margin_line(healthy, settings.quantile)
    return StudyReport(
        metrics={
            "crashes": {
                group.name: {
                    look: {name: _metric(group.shares[name, look]) for name in COUNTED}
                    for look in LOOKS
                    if group.shares["foreseen", look] is not None
                }
                for group in groups
            },
            "alarms": {
                f"{runs}, {look}": {
                    name: _metric(each) for name, each in row.items() if each is not None
                }
                for runs, look, row in alarms
            },
            "memory": {
                "factor": {"value": line.factor, "n": line.n},
                "added_mebibytes": {"value": line.bytes / MEBIBYTE, "n": line.n},
            },
        },
        points={"preflight": rounded(points)},
        tables=(
            crashes_table(groups, (*notes, of_looks, *shares)),
            alarms_table(alarms, (*notes, *shares, TWIN_NOTE)),
            scenarios_table(looked, (*notes, of_looks)),
            costs_table(costs, notes),
        ),
        figures={"preflight": preflight_picture(groups)},
        sentences={"finding": _finding(groups[0], _twin_alarms(looked, confidence), costs)},
        summary=(
            Summary(
                ("runs that crash", "look", "foreseen", "n"),
                [
                    (group.name, look, each.count, each.n)
                    for group in groups
                    for look in LOOKS
                    if (each := group.shares["foreseen", look]) is not None
                ],
            ),
        ),
    )


def _groups(looked: Sequence[Looked]) -> Iterator[tuple[str, list[Looked]]]:
    """All crashes, those of the first step and later ones, and each kind of exception."""
    crashing = [each for each in looked if each.crashes]
    yield "all", crashing
    yield "in the first step", [each for each in crashing if each.failure_step == 0]
    at_onset = [each for each in crashing if 0 < each.failure_step == each.failing["onset"].step]
    yield "in the step of a later onset", at_onset
    later = [each for each in crashing if each.failure_step > each.failing["onset"].step]
    yield "later than their onset", later
    for kind in sorted({each.group for each in crashing}, key=str.lower):
        yield kind, [each for each in crashing if each.group == kind]


def _group(name: str, members: Sequence[Looked], confidence: float) -> Group:
    shares = {
        (counted, look): share([counts(each, look) for each in members], confidence)
        for counted, counts in COUNTED.items()
        for look in LOOKS
    }
    return Group(name, members, shares)


def _alarms(
    looked: Sequence[Looked], healthy: pl.DataFrame, confidence: float
) -> Iterator[tuple[str, str, Mapping[str, Share | None]]]:
    """Runs, where they are looked at, and what is said of them."""
    others = [each for each in looked if not each.crashes]
    for look in EARLY:
        twins = [each.twin[look] for each in looked if each.twin[look].reached]
        yield (
            "twins",
            LOOK_LABELS[look],
            {
                "crash": share([each.crash is not None for each in twins], confidence),
                "severe": share([each.says(SEVERE) for each in twins], confidence),
                "said": share([each.says(SAID) for each in twins], confidence),
                "named": None,
            },
        )
    for look in EARLY:
        failing = [each.failing[look] for each in others]
        named = [each.failing[look].names(each.cause, SAID) for each in others]
        yield (
            "failing, without a crash",
            LOOK_LABELS[look],
            {
                "crash": share([each.crash is not None for each in failing], confidence),
                "severe": share([each.says(SEVERE) for each in failing], confidence),
                "said": share([each.says(SAID) for each in failing], confidence),
                "named": share(named, confidence),
            },
        )
    said = {name: healthy[name].to_list() for name in SAID}
    severe = [any(each) for each in zip(said["crash"], said["failure"], strict=True)]
    more = [any(each) for each in zip(*said.values(), strict=True)]
    yield (
        "healthy, of other draws",
        LOOK_LABELS["start"],
        {
            "crash": share(said["crash"], confidence),
            "severe": share(severe, confidence),
            "said": share(more, confidence),
            "named": None,
        },
    )


def _twin_alarms(looked: Sequence[Looked], confidence: float) -> Share | None:
    """Twins of which a crash is foreseen in any look."""
    foreseen = [any(each.crash is not None for each in one.twin.values()) for one in looked]
    return share(foreseen, confidence)


def _costs(looked: Sequence[Looked], healthy: pl.DataFrame) -> list[tuple[str, str, Spread]]:
    first = [each.failing["start"] for each in looked]
    later = [each.failing["onset"] for each in looked if each.failing["onset"].step > 0]
    rows = []
    for name, some in (("The first of a process", first), ("A later one", later)):
        seconds = [each.seconds for each in some if each.seconds is not None]
        ratios = [
            each.seconds / each.step_seconds
            for each in some
            if each.seconds is not None and each.step_seconds
        ]
        rows.append((name, "seconds", _spread(seconds)))
        rows.append((name, "steps of the run", _spread(ratios)))
    rows.append(("Measured memory", "times the estimate", _spread(healthy["ratio"].to_list())))
    return rows


def _spread(values: Sequence[float]) -> Spread:
    low, median, high = (float(each) for each in np.quantile(values, (0.25, 0.5, 0.75)))
    return Spread(median, low, high, len(values))


def _metric(each: Share | None) -> dict[str, float]:
    assert each is not None
    return each.record()


def _points(looked: Sequence[Looked]) -> Iterator[dict[str, Any]]:
    for each in looked:
        for run, answers in (("failing", each.failing), ("twin", each.twin)):
            for look, answer in answers.items():
                of_failing = run == "failing"
                said = [kind for kind in SAID if answer.says((kind,))]
                named = dict.fromkeys(
                    cause for severity, cause, _ in answer.said if severity in SAID and cause
                )
                yield {
                    "scenario": each.scenario.id,
                    "run": run,
                    "look": look,
                    "step": answer.step,
                    "crashes": of_failing and each.crashes,
                    "reached": answer.reached,
                    "foreseen": answer.crash is not None,
                    **{
                        name: of_failing and counts(each, look)
                        for name, counts in COUNTED.items()
                        if name != "foreseen"
                    },
                    "worst": said[0] if said else None,
                    "causes": " ".join(named) or None,
                }


def _finding(
    everything: Group,
    twins: Share | None,
    costs: Sequence[tuple[str, str, Spread]],
) -> str:
    def cell(each: Share | None) -> str:
        assert each is not None
        return (
            f"{each.count} of {each.n} "
            f"({with_interval(each.value, each.ci_low, each.ci_high, percent)} %)"
        )

    def of(look: Look) -> str:
        return cell(everything.shares["foreseen", look])

    reasons = everything.shares["right_category", "failure"]
    foreseen = everything.shares["foreseen", "failure"]
    assert reasons is not None
    assert foreseen is not None
    time = costs[3][2]
    late = sum(each.scenario.fault.onset == "mid_run" for each in everything.members)
    return (
        f"Before the first step `failbench preflight` foresees {of('start')} of the crashes, of "
        f"which {late} begin in mid-run; before the step of the onset {of('onset')}, before the "
        f"step that crashes {of('failure')}, {reasons.count} of these {foreseen.count} with the "
        f"right category. It foresees a crash of {cell(twins)} healthy twins, and takes the time "
        f"of {with_interval(time.median, time.low, time.high, one_decimal)} steps (median and "
        "quartiles) of these small models. Its checks were written with the scenarios in view.\n"
    )
