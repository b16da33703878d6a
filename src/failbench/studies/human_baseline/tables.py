"""Tables of the human baseline: a simulation, and what the paper's figure of it can mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from failbench.reporting.cells import ABSENT, interval_cell, percent
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.statistics.bootstrap import Interval
from failbench.studies.human_baseline.published_studies import Design
from failbench.studies.human_baseline.results import (
    GROUPS,
    HANDED_OVER,
    HumanBaseline,
    SimulatedStudies,
)
from failbench.studies.human_baseline.settings import HumanBaselineSettings
from failbench.vocabulary import DIFFICULTIES

DESIGN_LABELS: Mapping[Design, str] = {
    "person_a_scenario": "a person a scenario",
    "fold": "the same, in one fold",
    "one_person": "one person for all",
    "panel": "a panel for all",
}

READINGS: Mapping[Design, str] = {
    "person_a_scenario": "studies of {n} scenarios with a person each",
    "fold": "folds of {n} scenarios with a person each",
    "one_person": "people who answer all {n} scenarios",
    "panel": "panels that answer all {n} scenarios",
}
"""What a spread would be between."""

GROUP_LABELS: Mapping[str, str] = {
    "all": "all",
    **{level: f"measured {level}" for level in DIFFICULTIES},
    HANDED_OVER: "handed over by the hybrid",
}

STUDIES_NOTE = (
    "Simulation: nobody was asked. {studies} studies a row; people are drawn from the paper's "
    "mixture of skill levels (Section 4.5), whose mean is {mean} %. Percent, but for n, the "
    "scenarios of a study. Range: the central {confidence:g} % of studies. Spread: the standard "
    "deviation between studies, by formula and as simulated. A fold is one part in {folds}, "
    "a panel {panel} people, as many as the paper asked (Section 3.2). Difficulty felt: 0, all "
    "scenarios are alike to people; 1, what is hard for the methods is as hard for people (Rasch "
    "model, with abilities that keep the accuracy of each level)."
)
READINGS_NOTE = (
    "Reported: {reported} ± {spread} (Table 1; Section 4.5). The mixture does not give {reported} "
    "but {mean}; the plain mean of the three levels, as if all had as many people, is {plain}. "
    "Among the spreads with no difficulty felt, {spread} is nearest to that between "
    "{nearest} ({nearest_value}); skills alone, between people, have {skill}."
)
GROUPS_NOTE = (
    "Simulation: nobody was asked. Percent right of people drawn from the paper's mixture, with "
    "{confidence:g} % intervals by resampling scenarios within categories; where all scenarios are "
    "alike the value is given, not estimated. Measured levels are those of the table of "
    "difficulty. Handed over: scenarios by how often the three-way hybrid leaves them to a person, "
    "on the paper's features; n counts those that it ever does. The paper reports one figure, "
    "{reported} %, for all scenarios."
)


@dataclass(frozen=True)
class StudyRow:
    """A row of the table of studies."""

    label: str
    accuracy: float
    deviation: float
    studies: SimulatedStudies | None = None


def _simulated(cell: Callable[[SimulatedStudies], str]) -> Callable[[StudyRow], str]:
    """A cell that the paper's row has not."""
    return lambda row: ABSENT if row.studies is None else cell(row.studies)


def _range(studies: SimulatedStudies) -> str:
    return f"[{percent(studies.accuracy.ci_low)}, {percent(studies.accuracy.ci_high)}]"


STUDY_COLUMNS = (
    Column("Who answers what", align="left", cell=lambda row: row.label),
    Column("Difficulty felt", cell=_simulated(lambda studies: f"{studies.coupling:g}")),
    Column("n", cell=_simulated(lambda studies: str(studies.accuracy.n))),
    Column("Accuracy", cell=lambda row: percent(row.accuracy)),
    Column("Range of studies", cell=_simulated(_range)),
    Column("formula", "Spread", cell=lambda row: percent(row.deviation)),
    Column(
        "simulated", "Spread", cell=_simulated(lambda studies: interval_cell(studies.deviation))
    ),
)
"""The last column names the paper's figure: see :func:`_studies_table`."""


@dataclass(frozen=True)
class GroupRow:
    """A row of the table of groups: a group of scenarios, and its intervals by coupling."""

    group: str
    intervals: Mapping[float, Interval]


def human_tables(
    baseline: HumanBaseline, settings: HumanBaselineSettings, paper: Reported
) -> tuple[Table, Table]:
    """What simulated studies find, and how well people do where it is hard."""
    return _studies_table(baseline, settings, paper), _groups_table(baseline, settings, paper)


def study_points(baseline: HumanBaseline) -> pl.DataFrame:
    """What simulated studies find, a row per coupling and design, for the figure."""
    return pl.DataFrame(
        [
            {
                "coupling": studies.coupling,
                "design": studies.design,
                "n": studies.accuracy.n,
                "accuracy": studies.accuracy.value,
                "low": studies.accuracy.ci_low,
                "high": studies.accuracy.ci_high,
                "deviation": studies.deviation.value,
                "formula": studies.formula,
                "reaching": studies.reaching,
            }
            for studies in baseline.studies
        ]
    )


def _studies_table(
    baseline: HumanBaseline, settings: HumanBaselineSettings, paper: Reported
) -> Table:
    accuracy = reported_number(paper, "human_accuracy")
    reported = StudyRow("Reported", accuracy, reported_number(paper, "human_sd"))
    simulated = [
        StudyRow(DESIGN_LABELS[studies.design], studies.accuracy.value, studies.formula, studies)
        for studies in baseline.studies
    ]
    reaching = Column(
        f"Studies of {percent(accuracy)} or more",
        cell=_simulated(lambda studies: percent(studies.reaching)),
    )
    return Table.of(
        "human_baseline",
        (*STUDY_COLUMNS, reaching),
        [reported, *simulated],
        "A simulation of people: what studies of such people would find.",
        (
            STUDIES_NOTE.format(
                studies=f"{settings.studies:,}",
                mean=percent(baseline.mean),
                confidence=100 * settings.confidence,
                folds=settings.folds,
                panel=settings.panel,
            ),
            _readings_note(baseline, settings, reported),
        ),
    )


def _readings_note(
    baseline: HumanBaseline, settings: HumanBaselineSettings, reported: StudyRow
) -> str:
    """Which spread between studies is nearest to the one that the paper prints."""
    alike = [studies for studies in baseline.studies if studies.coupling == min(settings.couplings)]
    nearest = min(
        alike,
        key=lambda studies: (abs(studies.formula - reported.deviation), studies.design),
    )
    return READINGS_NOTE.format(
        reported=percent(reported.accuracy),
        spread=percent(reported.deviation),
        mean=percent(baseline.mean),
        plain=percent(baseline.plain_mean),
        nearest=READINGS[nearest.design].format(n=nearest.accuracy.n),
        nearest_value=percent(nearest.formula),
        skill=percent(baseline.skill_deviation),
    )


def _coupling_column(coupling: float) -> Column:
    return Column(
        f"{coupling:g}",
        "Difficulty felt",
        cell=lambda row: interval_cell(row.intervals[coupling]),
    )


def _groups_table(
    baseline: HumanBaseline, settings: HumanBaselineSettings, paper: Reported
) -> Table:
    rows = [
        GroupRow(group, {coupling: groups[group] for coupling, groups in baseline.groups.items()})
        for group in GROUPS
        if all(group in groups for groups in baseline.groups.values())
    ]
    return Table.of(
        "human_difficulty",
        (
            Column("Scenarios", align="left", cell=lambda row: GROUP_LABELS[row.group]),
            *map(_coupling_column, baseline.groups),
            Column("n", cell=lambda row: str(next(iter(row.intervals.values())).n)),
        ),
        rows,
        "A simulation of people: how often they are right, if they feel how hard a scenario is.",
        (
            GROUPS_NOTE.format(
                confidence=100 * settings.confidence,
                reported=percent(reported_number(paper, "human_accuracy")),
            ),
        ),
    )
