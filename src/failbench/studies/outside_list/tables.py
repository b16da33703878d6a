"""Tables of the outside list: what was detected, beside what was published, and the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from failbench.monitor.breaks import Break
from failbench.monitor.signals import Level
from failbench.outside_list.bugs import Bug
from failbench.reporting.cells import ABSENT, percent, with_interval, words
from failbench.reporting.table import Column, Table
from failbench.studies.outside_list.results import LEVELS, Judged, Share, share

TRAINCHECK_DETECTED, TRAINCHECK_BUGS = 18, 20
"""Of its bugs, those that TrainCheck detected within one iteration (arXiv 2506.14813)."""

OURS_NOTE: Final = (
    "The bugs are those of the evaluation of TrainCheck (Jiang et al., OSDI 2025) that can be had "
    "on a CPU, and one from an issue that it names. Each was re-created by us from its "
    "description, as a small training program of 80 steps, and no code was taken over; the table "
    "outside_list_bugs says how they differ from the originals. A twin is the same program without "
    "the bug. List and categories were written down before anything was run."
)
MONITOR_NOTE: Final = (
    "The monitor knows nothing of the programs but what docs/monitor.md tells a user to write; "
    "checks are {every} steps apart. {bounds} Level standard is what it has unless told; level "
    "full adds passes that probe the model."
)
LOGIC_NOTE: Final = "Logic alone speaks: there are no bounds from healthy runs."
BOUNDS_NOTE: Final = "Bounds are those of {bounds}."
ROWS_NOTE: Final = (
    "Mends: who mends the cause by docs/categories.md. Answer: of the rank in which something "
    "broke first. Steps: from the one in which the fault begins to the one in which the first "
    "invariant broke; where the fault begins with the run, there is no healthy past to compare "
    "with. Twin: what broke in the healthy twin. –: nothing."
)
TOTALS_NOTE: Final = (
    "Percent of n = {n} bugs with {interval:g} % Wilson intervals. Detected: something that must "
    "hold broke in the faulty run at or after the step in which the fault begins, and the "
    "diagnosis does not abstain. Told apart: by something that holds in the twin. TrainCheck: as "
    "published, of its own {published} bugs at their own scale, with Wilson's interval. The two "
    "counts are not of the same set: ours lacks bugs that need several GPUs or generate text, and "
    "is of re-creations. TrainCheck prints false positives of under 2 % with five or six correct "
    "programs to learn from, and counts them in another way; ours are twins with an alarm."
)
LIST_NOTE: Final = (
    "Categories, and the questions of docs/categories.md that decide them, were written down "
    "before anything was run. Onset: step in which the fault begins; that of transformers-33844 "
    "was put from 19, its first evaluation, to 0 after its first run, in which a probe saw it."
)

MEASURES: Final = {
    "detected": "Detected",
    "within_one_step": "Detected within one step",
    "within_one_check": "Detected within one check",
    "told_apart": "Detected and told apart from the twin",
    "named": "Detected, and category named",
    "told_apart_and_named": "Told apart, and category named",
    "twin_alarm": "Alarm in the healthy twin",
}


@dataclass(frozen=True)
class Outcome:
    """A row of the first table: a bug at each level."""

    judged: Mapping[Level, Judged]

    @property
    def bug(self) -> Bug:
        """Which."""
        return self.judged[LEVELS[0]].bug


def outside_list_tables(
    judged: Mapping[Level, Sequence[Judged]],
    shares: Mapping[Level, Mapping[str, Share]],
    bugs: Sequence[Bug],
    bounds: str | None,
    confidence: float,
) -> tuple[Table, ...]:
    """The tables."""
    spoken = LOGIC_NOTE if bounds is None else BOUNDS_NOTE.format(bounds=bounds)
    monitor = MONITOR_NOTE.format(every=judged[LEVELS[0]][0].every, bounds=spoken)
    rows = [
        Outcome(dict(zip(LEVELS, of_bug, strict=True)))
        for of_bug in zip(*(judged[level] for level in LEVELS), strict=True)
    ]
    return (
        _bugs_table(rows, monitor),
        _totals_table(shares, monitor, confidence),
        _list_table(bugs),
    )


def _broken(first: Break | None) -> str:
    return ABSENT if first is None else words(first.invariant.id)


def _level_columns(level: Level) -> tuple[Column, ...]:
    group = f"Level {level}"

    def steps(row: Outcome) -> str:
        taken = row.judged[level].steps
        return ABSENT if taken is None else str(taken)

    return (
        Column("First broken", group, "left", cell=lambda row: _broken(row.judged[level].first)),
        Column("Steps", group, cell=steps),
        Column("Answer", group, "left", cell=lambda row: words(row.judged[level].faulty.answer)),
    )


def _twin(row: Outcome) -> str:
    broken = {
        words(each.invariant.id): None for level in LEVELS for each in row.judged[level].twin.breaks
    }
    return ", ".join(broken) or ABSENT


def _bugs_table(rows: Sequence[Outcome], monitor: str) -> Table:
    return Table.of(
        "outside_list",
        (
            Column("Bug", align="left", cell=lambda row: row.bug.id),
            Column("What is wrong", align="left", width=0.2, cell=lambda row: row.bug.title),
            Column("Ranks", cell=lambda row: str(row.bug.ranks)),
            Column("Mends", align="left", cell=lambda row: words(row.bug.component)),
            *(column for level in LEVELS for column in _level_columns(level)),
            Column("Twin", align="left", cell=_twin),
        ),
        rows,
        f"What the monitor says of {len(rows)} re-created bugs that another project published.",
        (OURS_NOTE, monitor, ROWS_NOTE),
    )


def _totals_table(
    shares: Mapping[Level, Mapping[str, Share]], monitor: str, confidence: float
) -> Table:
    published = share(TRAINCHECK_DETECTED, TRAINCHECK_BUGS, confidence)
    of_traincheck = {"within_one_step": _share_cell(published), "twin_alarm": "< 2"}

    def of(level: Level) -> Column:
        return Column(f"Level {level}", cell=lambda name: _share_cell(shares[level][name]))

    return Table.of(
        "outside_list_totals",
        (
            Column("Counted", align="left", cell=lambda name: MEASURES[name]),
            *(of(level) for level in LEVELS),
            Column("TrainCheck, published", cell=lambda name: of_traincheck.get(name, ABSENT)),
        ),
        MEASURES,
        "How many published bugs the monitor detects, beside TrainCheck's own count.",
        (
            OURS_NOTE,
            monitor,
            TOTALS_NOTE.format(
                n=shares[LEVELS[0]]["detected"].n,
                interval=100 * confidence,
                published=TRAINCHECK_BUGS,
            ),
        ),
    )


def _share_cell(each: Share) -> str:
    interval = with_interval(each.value, each.ci_low, each.ci_high, percent)
    return f"{each.count} of {each.n}: {interval}"


def _list_table(bugs: Sequence[Bug]) -> Table:
    def onset(bug: Bug) -> str:
        return ABSENT if bug.onset is None else str(bug.onset)

    def difference(bug: Bug) -> str:
        return f"not re-created: {bug.left_out}" if bug.left_out else bug.deviations

    return Table.of(
        "outside_list_bugs",
        (
            Column("Bug", align="left", width=0.13, cell=lambda bug: bug.id),
            Column("Root cause", align="left", width=0.25, cell=lambda bug: bug.root_cause),
            Column("Mends", align="left", width=0.11, cell=lambda bug: words(bug.component)),
            Column("Why", align="left", width=0.16, cell=lambda bug: bug.reason),
            Column("Onset", cell=onset),
            Column("TrainCheck", align="left", width=0.15, cell=lambda bug: bug.traincheck),
            Column("Re-created here", align="left", width=0.2, cell=difference),
        ),
        bugs,
        f"The {len(bugs)} published bugs, who mends them, and what differs in the re-creation.",
        (OURS_NOTE, LIST_NOTE),
    )
