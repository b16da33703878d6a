"""The human baseline as tables: a simulation, and what the paper's figure of it can mean."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.reporting.cells import ABSENT, interval_cell, percent
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.human_baseline.published_studies import Design
from failbench.studies.human_baseline.results import (
    GROUPS,
    HANDED_OVER,
    HumanBaseline,
    HumanBaselineSettings,
    SimulatedStudies,
)
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
    "{nearest} ({nearest_value}). It is too small for a spread between people: their "
    "skills alone have {skill}."
)
GROUPS_NOTE = (
    "Simulation: nobody was asked. Percent right of people drawn from the paper's mixture, with "
    "{confidence:g} % intervals by resampling scenarios within categories; where all scenarios are "
    "alike the value is given, not estimated. Measured levels are those of the table of "
    "difficulty. Handed over: scenarios by how often the three-way hybrid leaves them to a person, "
    "on the paper's features; n counts those that it ever does. The paper reports one figure, "
    "{reported} %, for all scenarios."
)


def human_tables(
    found: HumanBaseline, settings: HumanBaselineSettings, reported: Mapping[str, object]
) -> tuple[Table, Table]:
    """What simulated studies find, and how well people do where it is hard.

    Parameters
    ----------
    found
        The simulation.
    settings
        Its settings.
    reported
        The parsed ``data/reported/paper.yaml``.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    return _studies_table(found, settings, paper), _groups_table(found, settings, paper)


def study_points(found: HumanBaseline) -> pl.DataFrame:
    """What simulated studies find, a row a coupling and design, for the figure.

    Returns
    -------
    polars.DataFrame
        ``coupling``, ``design``, ``n`` (scenarios of a study), ``accuracy``, ``low`` and ``high``
        (the central range), ``deviation``, ``formula`` (the deviation without simulation) and
        ``reaching`` (share of studies that are at least as accurate as the paper's figure).
    """
    return pl.DataFrame(
        [
            {
                "coupling": one.coupling,
                "design": one.design,
                "n": one.accuracy.n,
                "accuracy": one.accuracy.value,
                "low": one.accuracy.ci_low,
                "high": one.accuracy.ci_high,
                "deviation": one.deviation.value,
                "formula": one.formula,
                "reaching": one.reaching,
            }
            for one in found.studies
        ]
    )


def _studies_table(found: HumanBaseline, settings: HumanBaselineSettings, paper: Reported) -> Table:
    accuracy = reported_number(paper, "human_accuracy")
    deviation = reported_number(paper, "human_sd")
    alike = [one for one in found.studies if one.coupling == min(settings.couplings)]
    nearest = min(alike, key=lambda one: (abs(one.formula - deviation), one.design))
    reported = ("Reported", ABSENT, ABSENT, percent(accuracy), ABSENT, percent(deviation))
    return Table(
        "human_baseline",
        (
            Column("Who answers what", align="left"),
            Column("Difficulty felt"),
            Column("n"),
            Column("Accuracy"),
            Column("Range of studies"),
            Column("formula", "Spread"),
            Column("simulated", "Spread"),
            Column(f"Studies of {percent(accuracy)} or more"),
        ),
        ((*reported, ABSENT, ABSENT), *(_study_row(one) for one in found.studies)),
        "A simulation of people: what studies of such people would find.",
        (
            STUDIES_NOTE.format(
                studies=f"{settings.studies:,}",
                mean=percent(found.mean),
                confidence=100 * settings.confidence,
                folds=settings.folds,
                panel=settings.panel,
            ),
            READINGS_NOTE.format(
                reported=percent(accuracy),
                spread=percent(deviation),
                mean=percent(found.mean),
                plain=percent(found.plain_mean),
                nearest=READINGS[nearest.design].format(n=nearest.accuracy.n),
                nearest_value=percent(nearest.formula),
                skill=percent(found.skill_deviation),
            ),
        ),
    )


def _study_row(one: SimulatedStudies) -> tuple[str, ...]:
    deviation = one.deviation
    return (
        DESIGN_LABELS[one.design],
        f"{one.coupling:g}",
        str(one.accuracy.n),
        percent(one.accuracy.value),
        f"[{percent(one.accuracy.ci_low)}, {percent(one.accuracy.ci_high)}]",
        percent(one.formula),
        interval_cell(deviation),
        percent(one.reaching),
    )


def _groups_table(found: HumanBaseline, settings: HumanBaselineSettings, paper: Reported) -> Table:
    rows = []
    for name in GROUPS:
        cells = [by_group[name] for by_group in found.groups.values() if name in by_group]
        if cells:
            shown = map(interval_cell, cells)
            rows.append((GROUP_LABELS[name], *shown, str(cells[0].n)))
    return Table(
        "human_difficulty",
        (
            Column("Scenarios", align="left"),
            *(Column(f"{coupling:g}", "Difficulty felt") for coupling in found.groups),
            Column("n"),
        ),
        tuple(rows),
        "A simulation of people: how often they are right, if they feel how hard a scenario is.",
        (
            GROUPS_NOTE.format(
                confidence=100 * settings.confidence,
                reported=percent(reported_number(paper, "human_accuracy")),
            ),
        ),
    )
