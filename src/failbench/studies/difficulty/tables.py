"""Difficulty: what is hard to tell and what it is taken for, as tables and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from failbench.reporting.cells import ABSENT, interval_cell, percent, two_decimals, words
from failbench.reporting.table import Column, Table
from failbench.studies.difficulty.measure import DifficultySettings
from failbench.studies.difficulty.results import DifficultyStudy
from failbench.vocabulary import DIFFICULTIES

ALL = "all"
"""The view of points that every method and architecture is part of."""

LEVELS_NOTE = (
    "Diagnosed right: percent of the answers of {methods} methods to the runs of up to {runs} "
    "settings (architecture and seed), by fits that had never seen the scenario; methods and "
    "architectures count alike. Left out: simulated people, hybrids, which repeat their members, "
    "and the symptom baseline, which reads no measurement. Measured hard: fewer than {hard} % "
    "right; easy: {easy} % or more. Brackets: {interval:g} % intervals by resampling scenarios "
    "within categories. Agreement of declared and measured levels: weighted kappa {kappa}, "
    "Kendall's tau-b with the share itself {declared}. The same share in the reference "
    "architecture and in the others: tau-b {architectures}, to which it adds that one fit answers "
    "for a scenario in all of them. Share and how many of the {neighbours} nearest runs have the "
    "same cause: tau-b {near}."
)
REPORTED_NOTE = (
    "Reported: the paper takes the difficulty of a scenario from how many of its annotators were "
    "right at the first try (Section 3.2), and prints no figure of it. Here it was declared before "
    "anything was recorded: hard is what looks like another category."
)
HARDEST_NOTE = (
    "Right: percent of answers, as in the table of difficulty. Taken for: the wrong answer given "
    "most often, and percent of answers that gave it. Looks like: the category that the surface "
    "was declared to suggest. Nearest runs: how many of the {count} nearest in the standardised "
    "feature space of the reference architecture have the cause itself, and the one it is taken "
    "for. Misled by: what agrees with the wrong answer. Of all {hard} scenarios that are measured "
    "hard, {surface} % are taken for what the surface suggests, {neighbours} % for what more of "
    "the nearest runs are."
)
REASONS_NOTE = "The rationale was declared with the scenario, before anything was recorded."


def difficulty_points(study: DifficultyStudy) -> pl.DataFrame:
    """Shares of right answers: a row a scenario and a method, an architecture, or all of them.

    Returns
    -------
    polars.DataFrame
        ``category``, ``scenario``, ``declared``, ``measured``, ``view`` (``all``, ``method`` or
        ``architecture``), ``name`` and ``ease``.
    """
    levels = study.difficulty.scenarios.select("scenario", "declared", "measured")
    whole = study.difficulty.scenarios.select(
        "scenario", "category", pl.lit(ALL).alias("view"), pl.lit(ALL).alias("name"), "ease"
    )
    return (
        pl.concat([whole, study.difficulty.cells])
        .join(levels, on="scenario")
        .select("category", "scenario", "declared", "measured", "view", "name", "ease")
        .sort("view", "name", "category", "ease", "scenario")
    )


def difficulty_tables(study: DifficultyStudy, settings: DifficultySettings) -> tuple[Table, ...]:
    """Declared against measured levels, the hardest scenarios, and why they are."""
    hardest = study.difficulty.scenarios.head(settings.hardest)
    return (
        _levels_table(study, settings),
        _hardest_table(hardest, study, settings),
        _reasons_table(hardest),
    )


def _levels_table(study: DifficultyStudy, settings: DifficultySettings) -> Table:
    scenarios, ease = study.difficulty.scenarios, study.intervals["ease"]
    rows = []
    for declared in (*DIFFICULTIES, ALL):
        mine = scenarios if declared == ALL else scenarios.filter(declared=declared)
        found = ease[ALL if declared == ALL else f"declared_{declared}"]
        counts = (mine.filter(measured=level).height for level in DIFFICULTIES)
        rows.append((declared, *map(str, counts), interval_cell(found), str(found.n)))
    agreement = study.intervals["agreement"]
    note = LEVELS_NOTE.format(
        methods=_names(study, "method"),
        runs=scenarios["runs"].max(),
        hard=percent(settings.hard_below),
        easy=percent(settings.easy_from),
        interval=100 * settings.confidence,
        kappa=interval_cell(agreement["kappa"], two_decimals),
        declared=interval_cell(agreement["tau_declared"], two_decimals),
        architectures=interval_cell(agreement["tau_architectures"], two_decimals),
        neighbours=settings.neighbours,
        near=interval_cell(agreement["tau_neighbours"], two_decimals),
    )
    return Table(
        "difficulty",
        (
            Column("Declared", align="left"),
            *(Column(level, "Measured") for level in DIFFICULTIES),
            Column("Diagnosed right"),
            Column("Scenarios"),
        ),
        tuple(rows),
        "How difficult scenarios were declared to be, and how difficult they are.",
        (note, REPORTED_NOTE),
    )


def _hardest_table(
    hardest: pl.DataFrame, study: DifficultyStudy, settings: DifficultySettings
) -> Table:
    explained = study.intervals["hard_taken_for"]
    return Table(
        "hardest",
        (
            Column("Scenario", align="left"),
            Column("Cause", align="left"),
            Column("Declared", align="left"),
            Column("Right"),
            Column("Taken for", align="left"),
            Column("Answers"),
            Column("Looks like", align="left"),
            Column("the cause", "Nearest runs"),
            Column("taken for", "Nearest runs"),
            Column("Misled by", align="left"),
        ),
        tuple(_hardest_row(row, settings.neighbours) for row in hardest.iter_rows(named=True)),
        f"The {hardest.height} scenarios that are told least often, and what they are taken for.",
        (
            HARDEST_NOTE.format(
                count=settings.neighbours,
                hard=explained["surface"].n,
                surface=interval_cell(explained["surface"]),
                neighbours=interval_cell(explained["neighbours"]),
            ),
        ),
    )


def _hardest_row(row: Mapping[str, Any], count: int) -> tuple[str, ...]:
    misled = [name for name in ("surface", "neighbours") if row[f"by_{name}"]]
    return (
        words(row["scenario"]),
        words(row["category"]),
        str(row["declared"]),
        percent(row["ease"]),
        words(row["instead"]),
        percent(row["instead_share"]),
        words(row["symptom_category"]),
        *(_of(row[name], count) for name in ("neighbours_own", "neighbours_instead")),
        " and ".join(misled) or ABSENT,
    )


def _reasons_table(hardest: pl.DataFrame) -> Table:
    return Table(
        "hardest_reasons",
        (
            Column("Scenario", align="left"),
            Column("Nearest run", align="left"),
            Column("Rationale", align="left"),
        ),
        tuple(
            (
                words(row["scenario"]),
                f"{words(row['nearest'])} ({words(row['nearest_category'])})",
                str(row["rationale"]),
            )
            for row in hardest.iter_rows(named=True)
        ),
        f"Why the {hardest.height} hardest scenarios are hard: their look-alikes and what was "
        "declared of them.",
        (REASONS_NOTE,),
    )


def _names(study: DifficultyStudy, view: str) -> int:
    return study.difficulty.cells.filter(view=view)["name"].n_unique()


def _of(share: float, count: int) -> str:
    return f"{round(share * count)} of {count}"
