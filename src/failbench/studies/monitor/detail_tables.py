"""Tables of the last version of the monitor: by category, by what decided, by what is logged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import polars as pl

from failbench.reporting.cells import ABSENT, signed, words
from failbench.reporting.labels import (
    CATEGORY_LABELS,
)
from failbench.reporting.table import Column, Table
from failbench.studies.monitor.results import ALL_SETTINGS, FROM_START, WITH_PAST
from failbench.studies.monitor.rungs import LADDER
from failbench.studies.monitor.shown import ANSWER_NOTE, INTERVAL_NOTE, Shown, caption
from failbench.vocabulary import CATEGORIES, DIFFICULTIES

BEGUN_NOTE: Final = (
    "Fault on from step 0, and the same runs with a healthy past: from whole logs, as nothing says "
    "when a run without a past fails."
)

DECISIVE_NOTE: Final = (
    "Runs of all settings whose answer the invariant or ending decided, right and wrong about the "
    "label."
)

LADDER_NOTE: Final = "Each rung has what those above it have. The ending is on all of them."
COST_NOTE: Final = (
    "Time: of a training step with what the rung measures, to one without a monitor, of a causal "
    "transformer of a million parameters on one core, with a check at every tenth step. Measured "
    "once on one machine, by make monitor-cost."
)

FAMILY_NOTE: Final = (
    "Lost: points of accuracy, on the same runs, without any invariant of the family."
)


BEGUN: Final = {
    FROM_START: "Fault on from step 0",
    WITH_PAST: "The same runs with a healthy past",
}


def detail_tables(shown: Shown) -> tuple[Table, ...]:
    """By category, what decided, what must be logged, and what families are worth."""
    return (_scope_table(shown), _decisive_table(shown), _ladder_table(shown), _family_table(shown))


def _scope_table(shown: Shown) -> Table:
    """By category, difficulty and half, of the last version."""
    version, settings = shown.versions[-1], shown.detailed
    rows: list[Any] = [
        ("component", category, CATEGORY_LABELS[category]) for category in CATEGORIES
    ]
    rows += [("difficulty", level, words(level).capitalize()) for level in DIFFICULTIES]
    halves = shown.rates.filter(part="half")["name"].unique().sort()
    rows += [(FROM_START, name, label) for name, label in BEGUN.items()]
    rows += [("half", half, f"{half.capitalize()} half") for half in halves]

    def accuracy(setting: str, row: tuple[str, str, str]) -> str:
        key = {"version": version, "setting": setting, "part": row[0], "name": row[1]}
        return shown.cell(**key, metric="accuracy")

    def size(row: tuple[str, str, str]) -> str:
        key = {"version": version, "setting": ALL_SETTINGS, "part": row[0], "name": row[1]}
        return shown.size(**key, metric="accuracy")

    return Table.of(
        "monitor_components",
        (
            Column("Scenarios", align="left", cell=lambda row: row[2]),
            Column("Scenarios / runs, all settings", cell=size),
            *(Column(setting, "Accuracy", cell=partial(accuracy, setting)) for setting in settings),
        ),
        rows,
        caption(shown, f"Accuracy of version {version} by category, difficulty and half"),
        (ANSWER_NOTE, BEGUN_NOTE, INTERVAL_NOTE.format(interval=100 * shown.confidence)),
    )


def _decisive_table(shown: Shown) -> Table:
    counts = (
        shown.decisive.filter(version=shown.versions[-1])
        .group_by("decided_by", "decided_kind")
        .agg(pl.col("right", "wrong").sum())
        .sort(pl.col("right") + pl.col("wrong"), "decided_by", descending=[True, False])
    )
    return Table.of(
        "monitor_decisive",
        (
            Column("Decided by", align="left", cell=lambda row: words(row["decided_by"])),
            Column("Kind", align="left", cell=lambda row: row["decided_kind"]),
            Column("Right", cell=lambda row: str(row["right"])),
            Column("Wrong", cell=lambda row: str(row["wrong"])),
        ),
        counts.to_dicts(),
        caption(shown, f"What decided the answers of version {shown.versions[-1]}"),
        (DECISIVE_NOTE,),
    )


def _ladder_table(shown: Shown) -> Table:
    version = shown.versions[-1]

    def cell(setting: str, metric: str, rung: Any) -> str:
        key = {"version": version, "setting": setting, "part": "rung", "name": rung.name}
        return shown.cell(**key, metric=metric)

    def time(milliseconds: float, rung: Any) -> str:
        rows = shown.cost.filter(rung=rung.name, nominal_milliseconds=milliseconds).to_dicts()
        return f"{rows[0]['ratio']:.2f}" if rows else ABSENT

    return Table.of(
        "monitor_ladder",
        (
            Column("What is logged", align="left", cell=lambda rung: rung.label),
            *(
                Column(heading, setting, cell=partial(cell, setting, metric))
                for setting in shown.detailed
                for heading, metric in (("Accuracy", "accuracy"), ("Named", "coverage"))
            ),
            *(
                Column(f"{milliseconds:g} ms", "Time, steps of", cell=partial(time, milliseconds))
                for milliseconds in sorted(shown.cost["nominal_milliseconds"].unique())
            ),
        ),
        LADDER,
        caption(shown, f"What must be logged to know why, by version {version}"),
        (
            LADDER_NOTE,
            COST_NOTE,
            ANSWER_NOTE,
            INTERVAL_NOTE.format(interval=100 * shown.confidence),
        ),
    )


def _family_table(shown: Shown) -> Table:
    version = shown.versions[-1]
    lost = shown.rates.filter(version=version, part="family", setting=ALL_SETTINGS)

    def cell(setting: str, row: Mapping[str, Any]) -> str:
        key = {"version": version, "setting": setting, "part": "family", "name": row["name"]}
        return shown.cell(lambda value: signed(100 * value), **key)

    return Table.of(
        "monitor_families",
        (
            Column("Family left out", align="left", cell=lambda row: words(row["name"])),
            *(Column(setting, "Lost", cell=partial(cell, setting)) for setting in shown.detailed),
        ),
        lost.sort("value", "name", descending=[True, False]).to_dicts(),
        caption(shown, f"What each family of invariants is worth to version {version}"),
        (FAMILY_NOTE, INTERVAL_NOTE.format(interval=100 * shown.confidence)),
    )
