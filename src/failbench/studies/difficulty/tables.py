"""Difficulty: what is hard to tell and what it is taken for, as tables and points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from failbench.reporting.cells import ABSENT, interval_cell, percent, two_decimals, words
from failbench.reporting.labels import label_inside
from failbench.reporting.replaced import DECLARED_NOTE
from failbench.reporting.reported import Reported
from failbench.reporting.table import Column, Table
from failbench.statistics.bootstrap import Interval
from failbench.studies.difficulty.measure import Difficulty
from failbench.studies.difficulty.results import DifficultySettings, Estimates
from failbench.vocabulary import DIFFICULTIES

ALL = "all"
"""The view of points that every method and architecture is part of."""

LEVELS_NOTE = (
    "Diagnosed right: percent of the answers of {methods} methods to the runs of up to {runs} "
    "settings (architecture and seed), by fits that had never seen the scenario; methods and "
    "architectures count alike. Left out, as they are told the category, repeat other methods, "
    "read no measurement or a part of them, or rest on rules that were made with the scenarios in "
    "view: {left_out}. Measured hard: fewer than {hard} % right; easy: {easy} % or more. Brackets: "
    "{interval:g} % intervals by resampling scenarios within categories. Agreement of declared and "
    "measured levels: weighted kappa {kappa}, Kendall's tau-b with the share itself {declared}. "
    "The same share in the reference architecture and in the others: tau-b {architectures}, to "
    "which it adds that one fit answers for a scenario in all of them. Share and how many of the "
    "{neighbours} nearest scenarios have the same cause: tau-b {near}."
)
REPORTED_NOTE = (
    "Reported: the paper takes the difficulty of a scenario from how many of its annotators were "
    "right at the first try (Section 3.2), and prints no figure of it. Here hard is what looks "
    "like "
    f"another category. {DECLARED_NOTE}"
)
EASY_NOTE = (
    "Harder scenarios are not the whole difference from the paper: on those declared easy "
    "{methods} answer the most right, and none of the {count} methods reaches the {reported} % "
    "that it prints for its best."
)
EASY_REACHED_NOTE = (
    "On those declared easy {methods} answer the most right; the paper prints {reported} % for its "
    "best."
)
SHOWN_BEST = 2
"""Methods whose share on the scenarios that were declared easy is printed."""
HARDEST_NOTE = (
    "Right: percent of answers, as in the table of difficulty. Taken for: the wrong answer given "
    "most often, and percent of answers that gave it. Looks like: the category that the surface "
    "was declared to suggest. Nearest runs: how many of the {count} nearest in the standardised "
    "feature space of the reference architecture have the cause itself, and the one it is taken "
    "for. Misled by: what agrees with the wrong answer. Of all {hard} scenarios that are measured "
    "hard, {surface} % are taken for what the surface suggests, {neighbours} % for what more of "
    "the nearest scenarios are."
)
REASONS_NOTE = f"The rationale was declared with the scenario. {DECLARED_NOTE}"


NEAREST = "Nearest runs"
MISLEADING = ("surface", "neighbours")
"""What may agree with a wrong answer."""


def difficulty_points(difficulty: Difficulty) -> pl.DataFrame:
    """Shares of right answers: a row per scenario and method, architecture, or all of them."""
    levels = difficulty.scenarios.select("scenario", "declared", "measured")
    whole = difficulty.scenarios.select(
        "scenario", "category", pl.lit(ALL).alias("view"), pl.lit(ALL).alias("name"), "ease"
    )
    return (
        pl.concat([whole, difficulty.shares])
        .join(levels, on="scenario")
        .select("category", "scenario", "declared", "measured", "view", "name", "ease")
        .sort("view", "name", "category", "ease", "scenario")
    )


def difficulty_tables(
    difficulty: Difficulty, estimates: Estimates, paper: Reported, settings: DifficultySettings
) -> tuple[Table, ...]:
    """Declared against measured levels, the hardest scenarios, and why they are."""
    hardest = difficulty.scenarios.head(settings.hardest)
    return (
        _levels_table(difficulty, estimates, paper, settings),
        _hardest_table(hardest, estimates["hard_taken_for"], settings),
        _reasons_table(hardest),
    )


@dataclass(frozen=True)
class Level:
    """Scenarios that were declared alike, or all of them."""

    declared: str
    scenarios: pl.DataFrame
    ease: Interval

    def measured(self, level: str) -> str:
        """How many of the scenarios have a measured level."""
        return str(self.scenarios.filter(measured=level).height)


def _levels(difficulty: Difficulty, ease: Mapping[str, Interval]) -> list[Level]:
    scenarios = difficulty.scenarios
    return [
        *(
            Level(declared, scenarios.filter(declared=declared), ease[f"declared_{declared}"])
            for declared in DIFFICULTIES
        ),
        Level(ALL, scenarios, ease[ALL]),
    ]


def _measured_column(level: str) -> Column:
    return Column(level, "Measured", cell=lambda row: row.measured(level))


def _levels_table(
    difficulty: Difficulty, estimates: Estimates, paper: Reported, settings: DifficultySettings
) -> Table:
    return Table.of(
        "difficulty",
        (
            Column("Declared", align="left", cell=lambda row: row.declared),
            *(_measured_column(level) for level in DIFFICULTIES),
            Column("Diagnosed right", cell=lambda row: interval_cell(row.ease)),
            Column("Scenarios", cell=lambda row: str(row.ease.n)),
        ),
        _levels(difficulty, estimates["ease"]),
        "How difficult scenarios were declared to be, and how difficult they are.",
        (
            _levels_note(difficulty, estimates["agreement"], settings),
            REPORTED_NOTE,
            _easy_note(difficulty, paper),
        ),
    )


def _easy_note(difficulty: Difficulty, paper: Reported) -> str:
    """What the best methods reach on the scenarios declared easy, beside the paper's best."""
    easy = difficulty.scenarios.filter(declared=DIFFICULTIES[0]).select("scenario")
    rates = (
        difficulty.shares.filter(view="method")
        .join(easy, on="scenario", how="semi")
        .group_by("name")
        .agg(pl.col("ease").mean())
        .sort("ease", "name", descending=[True, False])
        .rows()
    )
    reported = max(row.accuracy for row in paper.tables.methods.rows.values())
    best = [f"{label_inside(name)} {percent(rate)} %" for name, rate in rates[:SHOWN_BEST]]
    note = EASY_NOTE if rates[0][1] < reported else EASY_REACHED_NOTE
    return note.format(methods=" and ".join(best), count=len(rates), reported=percent(reported))


def _levels_note(
    difficulty: Difficulty, agreement: Mapping[str, Interval], settings: DifficultySettings
) -> str:
    return LEVELS_NOTE.format(
        methods=difficulty.shares.filter(view="method")["name"].n_unique(),
        runs=difficulty.scenarios["runs"].max(),
        left_out="; ".join(label_inside(method) for method in settings.left_out),
        hard=percent(settings.hard_below),
        easy=percent(settings.easy_from),
        interval=100 * settings.confidence,
        kappa=interval_cell(agreement["kappa"], two_decimals),
        declared=interval_cell(agreement["tau_declared"], two_decimals),
        architectures=interval_cell(agreement["tau_architectures"], two_decimals),
        neighbours=settings.neighbours,
        near=interval_cell(agreement["tau_neighbours"], two_decimals),
    )


def _neighbours_column(heading: str, share: str, count: int) -> Column:
    """How many of the nearest runs a share of them is."""
    return Column(heading, NEAREST, cell=lambda row: f"{round(row[share] * count)} of {count}")


def _misled(row: Mapping[str, Any]) -> str:
    return " and ".join(name for name in MISLEADING if row[f"by_{name}"]) or ABSENT


def _hardest_table(
    hardest: pl.DataFrame, taken_for: Mapping[str, Interval], settings: DifficultySettings
) -> Table:
    note = HARDEST_NOTE.format(
        count=settings.neighbours,
        hard=taken_for["surface"].n,
        surface=interval_cell(taken_for["surface"]),
        neighbours=interval_cell(taken_for["neighbours"]),
    )
    return Table.of(
        "hardest",
        (
            Column("Scenario", align="left", cell=lambda row: words(row["scenario"])),
            Column("Cause", align="left", cell=lambda row: words(row["category"])),
            Column("Declared", align="left", cell=lambda row: str(row["declared"])),
            Column("Right", cell=lambda row: percent(row["ease"])),
            Column("Taken for", align="left", cell=lambda row: words(row["instead"])),
            Column("Answers", cell=lambda row: percent(row["instead_share"])),
            Column("Looks like", align="left", cell=lambda row: words(row["symptom_category"])),
            _neighbours_column("the cause", "neighbours_own", settings.neighbours),
            _neighbours_column("taken for", "neighbours_instead", settings.neighbours),
            Column("Misled by", align="left", cell=_misled),
        ),
        hardest.iter_rows(named=True),
        f"The {hardest.height} scenarios that are told least often, and what they are taken for.",
        (note,),
    )


def _reasons_table(hardest: pl.DataFrame) -> Table:
    return Table.of(
        "hardest_reasons",
        (
            Column("Scenario", align="left", cell=lambda row: words(row["scenario"])),
            Column(
                "Nearest run",
                align="left",
                cell=lambda row: f"{words(row['nearest'])} ({words(row['nearest_category'])})",
            ),
            Column("Rationale", align="left", cell=lambda row: str(row["rationale"])),
        ),
        hardest.iter_rows(named=True),
        f"Why the {hardest.height} hardest scenarios are hard: their look-alikes and what was "
        "declared of them.",
        (REASONS_NOTE,),
    )
