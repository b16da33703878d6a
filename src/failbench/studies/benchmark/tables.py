"""Tables of the scenarios: counts by category, and all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, get_args

from failbench.reporting.cells import ABSENT, words
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.replaced import DECLARED_NOTE
from failbench.reporting.scope import scale_note
from failbench.reporting.table import Column, Divider, Table
from failbench.scenarios import OnsetKind, Outcome
from failbench.studies.benchmark.results import COLUMNS, Described, Scale, of_category
from failbench.vocabulary import DIFFICULTIES, Category

FACETS: Final[dict[str, tuple[str, tuple[str, ...], Callable[[Described], str]]]] = {
    "outcome": ("Measured outcome", get_args(Outcome), lambda row: row.outcome),
    "onset": ("Onset", get_args(OnsetKind), lambda row: row.scenario.fault.onset),
    "declared": ("Declared difficulty", DIFFICULTIES, lambda row: row.scenario.difficulty),
    "measured": ("Measured difficulty", DIFFICULTIES, lambda row: row.measured_difficulty),
}
"""What scenarios are counted by: heading, values in order, and the value of a scenario."""

SUMMARY_NOTE: Final = (
    "Outcomes and steps are of all {settings} settings. Outcome: of most failing runs of a "
    "scenario; {several} of {scenarios} scenarios have more than one. Onset: a start crash ends a "
    "run in its first step, a fault from the start is there by nature, and a mid-run fault is "
    "switched on at a step from one range for all categories. Declared difficulty is hard where "
    "what is seen suggests another category than the cause; measured difficulty is from the share "
    "of right answers of rules and classifiers to its runs. Steps: from onset to failure, median "
    "over the failing runs of a scenario, and then over scenarios. "
    f"{DECLARED_NOTE}"
)
RECORDED_NOTE: Final = (
    "Recorded: {failure} failing runs, each with a twin in which the fault is never switched on "
    "({twin}), and {success} healthy runs beside them, in {settings} settings ({architectures} "
    "architectures, {optimizers} optimizers), up to {seeds} seeds a scenario and setting."
)
SCENARIOS_NOTE: Final = (
    "Names are those of the files in data/scenarios, with spaces for underscores; the root causes "
    "themselves are in these files. Difficulty: declared, then measured. Outcome: expected; in "
    "brackets that of most runs where it differs. Steps: from onset to failure, median over the "
    "seeds of the main study's setting ({setting}); of a crash at the start there are none. "
    f"{DECLARED_NOTE}"
)


@dataclass(frozen=True)
class Count:
    """A row of the summary: what is counted, and how many scenarios each column has of it."""

    name: str
    cells: tuple[str, ...]


def counts(rows: Sequence[Described]) -> dict[str, dict[str, dict[Category, int]]]:
    """Scenarios by facet, value and category; what no scenario has is zero."""
    return {
        facet: {
            value: {
                category: Counter(value_of(row) for row in of_category(rows, category))[value]
                for category in CATEGORY_LABELS
            }
            for value in values
        }
        for facet, (_, values, value_of) in FACETS.items()
    }


def scenarios_tables(
    rows: Sequence[Described], scale: Scale, reference: str
) -> tuple[Table, Table]:
    """The summary by category, and the table of all scenarios."""
    return (_summary(rows, scale), _all_scenarios(rows, reference))


def _summary(rows: Sequence[Described], scale: Scale) -> Table:
    columns = [of_category(rows, category) for category in COLUMNS]
    body: list[Count | Divider] = [
        Count("Scenarios", tuple(str(len(column)) for column in columns)),
        Count("Failing runs", tuple(f"{sum(row.runs for row in each):,}" for each in columns)),
        Count("Steps to failure", tuple(_median_steps(column) for column in columns)),
    ]
    for heading, values, value_of in FACETS.values():
        body.append(Divider(heading))
        for value in values:
            counted = (sum(value_of(row) == value for row in column) for column in columns)
            body.append(Count(words(value), tuple(str(count) for count in counted)))
    several = sum(row.outcomes > 1 for row in rows)
    return Table.of(
        "scenarios_summary",
        (
            Column("", align="left", cell=lambda row: row.name),
            *(_summary_column(place, category) for place, category in enumerate(COLUMNS)),
        ),
        body,
        f"The {len(rows)} scenarios of the benchmark by category of their root cause.",
        (
            SUMMARY_NOTE.format(several=several, scenarios=len(rows), settings=scale.settings),
            RECORDED_NOTE.format(
                **{kind: f"{scale.runs.get(kind, 0):,}" for kind in ("failure", "twin", "success")},
                settings=scale.settings,
                architectures=scale.architectures,
                optimizers=scale.optimizers,
                seeds=scale.seeds,
            ),
            scale_note(sum(scale.runs.values()), scale.spans),
        ),
    )


def _summary_column(place: int, category: Category | None) -> Column:
    heading = "All" if category is None else CATEGORY_LABELS[category]
    return Column(heading, cell=lambda row: row.cells[place])


def _median_steps(rows: Sequence[Described]) -> str:
    return f"{median(row.steps for row in rows):g}" if rows else ABSENT


def _outcome(row: Described) -> str:
    expected = row.scenario.expected_outcome
    return expected if row.outcome == expected else f"{expected} ({row.outcome})"


def _steps(row: Described) -> str:
    if row.scenario.fault.onset == "start_crash" or row.reference_steps is None:
        return ABSENT
    return f"{row.reference_steps:g}"


def _difficulty(row: Described) -> str:
    return f"{row.scenario.difficulty}, {row.measured_difficulty}"


def _all_scenarios(rows: Sequence[Described], reference: str) -> Table:
    return Table.of(
        "scenarios",
        (
            Column("Scenario", align="left", width=0.15, cell=lambda row: words(row.scenario.id)),
            Column("Title", align="left", width=0.16, cell=lambda row: row.scenario.title),
            Column("Category", align="left", width=0.12, cell=lambda row: words(row.category)),
            Column("Difficulty", align="left", width=0.09, cell=_difficulty),
            Column(
                "Onset", align="left", width=0.07, cell=lambda row: words(row.scenario.fault.onset)
            ),
            Column("Outcome", align="left", width=0.1, cell=_outcome),
            Column("Remedy", align="left", width=0.24, cell=lambda row: row.scenario.remedy),
            Column("Steps", cell=_steps),
        ),
        rows,
        f"All {len(rows)} scenarios, each a root cause that is injected into real training runs.",
        (SCENARIOS_NOTE.format(setting=reference),),
    )
