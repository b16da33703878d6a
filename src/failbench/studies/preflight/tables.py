"""Tables of the study of preflights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failbench.preflighted.answers import LOOKS, Look
from failbench.reporting.cells import ABSENT, one_decimal, percent, with_interval, words
from failbench.reporting.table import Column, Table
from failbench.studies.preflight.looked import Answer, Looked
from failbench.studies.preflight.results import SAID, Share

LOOK_LABELS: Final[Mapping[Look, str]] = {
    "start": "Before step 0",
    "onset": "Before the onset",
    "failure": "Before the crash",
}

SEVERITY_LABELS: Final = {
    "crash": "will crash",
    "failure": "cannot work",
    "warning": "look at this",
    "note": "note",
}

DEVELOPMENT_NOTE: Final = (
    "The checks were written with these scenarios in view, though none has a threshold that was "
    "fitted to them: what they reach is development. Nothing is told the truth. A preflight reads "
    "the model, the optimizer, the loss function and the next batch in the living process, and no "
    "telemetry; a crash by memory is foreseen where the estimate alone is more than the capacity."
)
RUNS_NOTE: Final = (
    "{runs} failing runs of {scenarios} scenarios in {setting}, seed {seed}, without repeats, and "
    "their twins. Runs are trained "
    "again with the configuration, draw and memory limit that they had; {equal} of {compared} "
    "runs were then equal to the recording in every column that does not measure the machine."
)
SHARE_NOTE: Final = "Count of n scenarios, and percent with {interval:g} % Wilson intervals."
LOOKS_NOTE: Final = (
    "The onset is the step in which the fault is switched on: {at_once} of the {crashes} crash in "
    "it. Where memory ends a run it may end sooner or later than the recorded run, as a preflight "
    "leaves holes in the heap: {sooner} had ended before the step that is looked at as that of the "
    "crash, {later} went on after it. Not reached: the program stops before it has a model and a "
    "batch, or had ended before."
)
RIGHT_NOTE: Final = "Right: crashes foreseen with the right category / with the right root cause."
TWIN_NOTE: Final = (
    "A twin is the same program until the onset, and is looked at before its first step and before "
    "that of the onset, where the fault is not switched on, under the memory limit of its failing "
    "run. Crash foreseen: an exception in the step that is looked at."
)
TIME_NOTE: Final = (
    "Medians and the middle half. Measured on two cores that other jobs used as well: ratios say "
    "more than seconds. The first preflight of a process prepares what fake tensors need."
)
MEMORY_NOTE: Final = (
    "Measured: the most data memory of the process above its state before the model was built. The "
    "models are small, so that code, threads and the heap weigh much in it."
)


@dataclass(frozen=True)
class Group:
    """A row of the first table: some scenarios whose runs crash."""

    name: str
    members: Sequence[Looked]
    shares: Mapping[tuple[str, Look], Share | None]


def share_cell(each: Share | None) -> str:
    """A count of n, with the share and its interval."""
    if each is None:
        return ABSENT
    interval = with_interval(each.value, each.ci_low, each.ci_high, percent)
    return f"{each.count} of {each.n}: {interval}"


def reasons_cell(group: Group, look: Look) -> str:
    """How many crashes are foreseen with the right category, and with the right root cause."""
    counts = [group.shares[name, look] for name in ("right_category", "right_cause")]
    return " / ".join(ABSENT if each is None else str(each.count) for each in counts)


def crashes_table(groups: Sequence[Group], notes: tuple[str, ...]) -> Table:
    """How many crashes are foreseen, by what is raised."""

    def columns(look: Look) -> tuple[Column, ...]:
        label = LOOK_LABELS[look]
        return (
            Column("Foreseen", label, cell=lambda row: share_cell(row.shares["foreseen", look])),
            Column("Right", label, cell=lambda row: reasons_cell(row, look)),
        )

    return Table.of(
        "preflight",
        (
            Column("Runs that crash", align="left", cell=lambda row: row.name),
            *(column for look in LOOKS for column in columns(look)),
        ),
        groups,
        "How many crashes a preflight foresees, and with how many it names the category and the "
        "root cause.",
        (*notes, RIGHT_NOTE),
    )


def alarms_table(
    rows: Sequence[tuple[str, str, Mapping[str, Share | None]]], notes: tuple[str, ...]
) -> Table:
    """What is said of runs and steps in which nothing crashes."""
    columns = (
        Column("Runs", align="left", cell=lambda row: row[0]),
        Column("Looked at", align="left", cell=lambda row: row[1]),
        Column("Crash foreseen", cell=lambda row: share_cell(row[2]["crash"])),
        Column("Crash, or cannot work", cell=lambda row: share_cell(row[2]["severe"])),
        Column("More than a note", cell=lambda row: share_cell(row[2]["said"])),
        Column("Cause named", cell=lambda row: share_cell(row[2]["named"])),
    )
    return Table.of(
        "preflight_alarms",
        columns,
        rows,
        "What a preflight says of runs that do not crash.",
        (*notes, "Cause named: by a finding that is more than a note; –: there is no cause."),
    )


def scenarios_table(looked: Sequence[Looked], notes: tuple[str, ...]) -> Table:
    """Every run that crashes, and what is said before."""

    def said(look: Look) -> Column:
        return Column(
            LOOK_LABELS[look],
            align="left",
            width=0.17,
            cell=lambda row: _said(row.failing.get(look)),
        )

    def raised(row: Looked) -> str:
        return f"{row.group}, step {row.failure_step}"

    return Table.of(
        "preflight_scenarios",
        (
            Column("Scenario", align="left", width=0.2, cell=lambda row: words(row.scenario.id)),
            Column("Raises", align="left", width=0.15, cell=raised),
            Column("Root cause", align="left", width=0.14, cell=lambda row: words(row.cause)),
            *(said(look) for look in LOOKS),
        ),
        [row for row in looked if row.crashes],
        "The runs that crash, and the worst that a preflight says before.",
        notes,
    )


def _said(answer: Answer | None) -> str:
    if answer is None:
        return ABSENT
    if not answer.reached:
        return "not reached"
    for severity, cause, _ in answer.said:
        if severity in SAID:
            named = f": {words(cause)}" if cause else ""
            return f"{SEVERITY_LABELS[severity]}{named}"
    return "nothing"


@dataclass(frozen=True)
class Spread:
    """A median with the middle half, of n values."""

    median: float
    low: float
    high: float
    n: int


def costs_table(rows: Sequence[tuple[str, str, Spread]], notes: tuple[str, ...]) -> Table:
    """What a preflight takes, and what its estimate of memory is worth."""

    def cell(row: tuple[str, str, Spread]) -> str:
        spread = row[2]
        return with_interval(spread.median, spread.low, spread.high, one_decimal)

    return Table.of(
        "preflight_costs",
        (
            Column("What", align="left", cell=lambda row: row[0]),
            Column("Unit", align="left", cell=lambda row: row[1]),
            Column("Median [quartiles]", cell=cell),
            Column("n", cell=lambda row: str(row[2].n)),
        ),
        rows,
        "The time of a preflight, and the memory of healthy runs over its estimate.",
        (*notes, TIME_NOTE, MEMORY_NOTE),
    )
