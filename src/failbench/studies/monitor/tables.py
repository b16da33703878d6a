"""Tables of the monitor: how often it is right, by what, when, and how often it cries wolf."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args

import polars as pl

from failbench.monitored.verdicts import OWN
from failbench.reporting.cells import ABSENT, counted, percent, signed, with_interval, words
from failbench.reporting.labels import (
    CATEGORY_LABELS,
    in_label_order,
    method_label,
    reads_label,
)
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.results import ALL_SETTINGS, FROM_START, LOGIC, WITH_PAST
from failbench.studies.monitor.rungs import LADDER
from failbench.vocabulary import CATEGORIES, DIFFICULTIES

INTERVAL_NOTE: Final = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds; Wilson's with n = scenarios where a rate is high or a category has a single scenario."
)
ANSWER_NOTE: Final = (
    "Accuracy: at the failure, from the log up to the step in which the detector sees it, where "
    "features are taken for other methods; an abstention counts as wrong. When named: of the runs "
    "of which a cause is named; named: their share. Rules were frozen before they were applied, "
    "and bounds come from healthy runs alone; version 2 was made with runs of the development half "
    "in view and later ones with both, where their figures are in-sample."
)
AHEAD_NOTE: Final = (
    "Whole log: of runs that go on after a failure, with what is logged later. Steps before "
    "failure: of the runs with so many steps between onset and failure, from the log up to there, "
    "the end unknown. First break: steps after onset, median and quartiles, whole logs; runs in "
    "which something broke before onset, and in which nothing broke, are counted beside."
)
BEGUN_NOTE: Final = (
    "Fault on from step 0, and the same runs with a healthy past: from whole logs, as nothing says "
    "when a run without a past fails."
)
ALARM_NOTE: Final = (
    "A false alarm is a healthy run of which a cause is named. Wilson's {interval:g} % intervals, "
    "n = runs. Logic: what needs no bounds; own: bounds of the setting's successes besides, which "
    "alarm on none of those that they were fitted to; else bounds fitted to another setting."
)
DECISIVE_NOTE: Final = (
    "Runs of all settings whose answer the invariant or ending decided, right and wrong about the "
    "label."
)
METHODS_NOTE: Final = (
    "Out of fold, in the folds of the main study; each method learns from the runs of these "
    "scenarios alone, and reads what was known at the failure. The answers of the invariants are "
    "those of frozen rules, of their last version. "
    "Less this: differences in points; those with the forest and with simple rules were named "
    "before any failing run was scored."
)
LADDER_NOTE: Final = "Each rung has what those above it have. The ending is on all of them."
COST_NOTE: Final = (
    "Time: of a training step with what the rung measures, to one without a monitor, of a causal "
    "transformer of a million parameters on one core, with a check at every tenth step. Measured "
    "once on one machine, by make monitor-cost."
)
HISTORY_NOTE: Final = (
    "Hash: of catalogue, precedence and bounds, whole in data/monitor. First scored: on the runs "
    "that were recorded then; other tables score every version on those of today."
)
FAMILY_NOTE: Final = (
    "Lost: points of accuracy, on the same runs, without any invariant of the family."
)


BEGUN: Final = {
    FROM_START: "Fault on from step 0",
    WITH_PAST: "The same runs with a healthy past",
}


@dataclass(frozen=True)
class Shown:
    """What the tables are made of; see :mod:`failbench.studies.monitor.results`.

    Attributes
    ----------
    rates, decisive, delays, alarms
        Tables of all versions.
    cost
        Rows of ``cost.COST_SCHEMA``.
    versions
        Versions, the last of which tables of details are of.
    halves
        Which scenarios, in words.
    confidence
        Of the intervals.
    """

    rates: pl.DataFrame
    decisive: pl.DataFrame
    delays: pl.DataFrame
    alarms: pl.DataFrame
    cost: pl.DataFrame
    versions: Sequence[str]
    halves: str
    confidence: float

    @property
    def settings(self) -> list[str]:
        """All settings together first."""
        names = set(self.rates["setting"].unique()) - {ALL_SETTINGS}
        return [ALL_SETTINGS, *sorted(names)]

    def rate(self, **key: str) -> Mapping[str, Any] | None:
        """The estimate of a key, if there is one."""
        rows = self.rates.filter(**key).to_dicts()
        return rows[0] if rows else None

    def cell(self, form: Callable[[float], str] = percent, /, **key: str) -> str:
        """An estimate with its interval."""
        rate = self.rate(**key)
        if rate is None:
            return ABSENT
        return with_interval(rate["value"], rate["ci_low"], rate["ci_high"], form)

    def size(self, **key: str) -> str:
        """Scenarios and runs of an estimate."""
        rate = self.rate(**key)
        return ABSENT if rate is None else f"{rate['n']} / {rate['runs']}"


def halves_in_words(halves: Sequence[str]) -> str:
    """Which scenarios the figures are of.

    >>> halves_in_words(["development"])
    'development half'
    """
    return " and ".join(halves) + (" half" if len(halves) == 1 else " halves")


def monitor_tables(shown: Shown, history: pl.DataFrame) -> tuple[Table, ...]:
    """All tables of the study.

    Parameters
    ----------
    shown
        The results.
    history
        ``versions.csv``: what changed between versions, and why.
    """
    return (
        _whole_table(shown),
        _scope_table(shown),
        _decisive_table(shown),
        _alarm_table(shown),
        _ladder_table(shown),
        _family_table(shown),
        _history_table(history),
    )


def method_rates_table(rates: pl.DataFrame, setting: str, halves: str, confidence: float) -> Table:
    """Methods on what the monitor knows, and others that were fitted to the same runs.

    Parameters
    ----------
    rates
        As :func:`failbench.studies.monitor.results.method_table` returns them.
    setting
        Of the runs.
    halves
        Which scenarios, in words.
    confidence
        Of the intervals.
    """

    def cell(metric: str, method: str) -> str:
        rows = rates.filter(method=method, metric=metric).to_dicts()
        if not rows:
            return ABSENT
        return with_interval(rows[0]["value"], rows[0]["ci_low"], rows[0]["ci_high"])

    def less(method: str) -> str:
        rows = rates.filter(method="invariants", metric=f"less_{method}").to_dicts()
        if not rows:
            return ABSENT
        bounds = (rows[0]["value"], rows[0]["ci_low"], rows[0]["ci_high"])
        return with_interval(*bounds, lambda value: signed(100 * value))

    def size(method: str) -> str:
        (row,) = rates.filter(method=method, metric="accuracy").to_dicts()
        return f"{row['n']} / {row['runs']}"

    return Table.of(
        "monitor_methods",
        (
            Column("Method", align="left", cell=method_label),
            Column("Reads", align="left", cell=reads_label),
            Column("Scenarios / runs", cell=size),
            Column("Accuracy", cell=partial(cell, "accuracy")),
            Column("When named", cell=partial(cell, "accuracy_when_committed")),
            Column("Named", cell=partial(cell, "coverage")),
            Column("Invariants less this", cell=less),
        ),
        in_label_order(rates["method"].unique()),
        f"Methods that were fitted to the same runs of {setting} ({halves} of the scenarios).",
        (METHODS_NOTE, INTERVAL_NOTE.format(interval=100 * confidence)),
    )


def _caption(shown: Shown, text: str) -> str:
    return f"{text} ({shown.halves} of the scenarios)."


def _whole_table(shown: Shown) -> Table:
    rows: list[Any] = []
    for version in shown.versions:
        rows.append(Divider(f"Version {version}"))
        rows += [
            {"version": version, "setting": setting}
            for setting in shown.settings
            if shown.rate(version=version, setting=setting, part="whole", metric="accuracy")
        ]
    aheads = [
        name
        for name in shown.rates.filter(part="ahead")["name"].unique(maintain_order=True)
        if name != "0"
    ]

    def of(part: str, name: str, metric: str, row: Mapping[str, str]) -> str:
        return shown.cell(**row, part=part, name=name, metric=metric)

    def size(row: Mapping[str, str]) -> str:
        return shown.size(**row, part="whole", metric="accuracy")

    def delay(row: Mapping[str, str]) -> str:
        (found,) = shown.delays.filter(**row).to_dicts()
        if found["median"] is None:
            return ABSENT
        quartiles = with_interval(found["median"], found["low"], found["high"], "{:.0f}".format)
        return f"{quartiles}; {found['before']} before, {found['never']} never"

    return Table.of(
        "monitor",
        (
            Column("Setting", align="left", cell=lambda row: row["setting"]),
            Column("Scenarios / runs", cell=size),
            Column("at the failure", "Accuracy", cell=partial(of, "whole", "whole", "accuracy")),
            *(
                Column(
                    f"there, {half} half", "Accuracy", cell=partial(of, "half", half, "accuracy")
                )
                for half in get_args(Half)
            ),
            Column("whole log", "Accuracy", cell=partial(of, "log", "whole", "accuracy")),
            Column("When named", cell=partial(of, "whole", "whole", "accuracy_when_committed")),
            Column("Named", cell=partial(of, "whole", "whole", "coverage")),
            *(
                Column(
                    ahead,
                    "Accuracy, steps before failure",
                    cell=partial(of, "ahead", ahead, "accuracy"),
                )
                for ahead in aheads
            ),
            Column("First break, steps after onset", cell=delay),
        ),
        rows,
        _caption(shown, "How often the monitor names the component of the cause"),
        (
            ANSWER_NOTE,
            INTERVAL_NOTE.format(interval=100 * shown.confidence),
            AHEAD_NOTE,
        ),
    )


def _scope_table(shown: Shown) -> Table:
    """By component, difficulty and half, of the last version."""
    version, settings = shown.versions[-1], shown.settings
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
        _caption(shown, f"Accuracy of version {version} by component, difficulty and half"),
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
        _caption(shown, f"What decided the answers of version {shown.versions[-1]}"),
        (DECISIVE_NOTE,),
    )


def _alarm_table(shown: Shown) -> Table:
    order = {"twin": "Twins", "success": "Successes"}
    alarms = shown.alarms.filter(version=shown.versions[-1])

    def bounds(row: Mapping[str, Any]) -> str:
        labels = {LOGIC: "logic alone", OWN: "own"}
        return labels.get(row["bounds"], str(row["bounds"]))

    return Table.of(
        "monitor_false_alarms",
        (
            Column("Healthy runs", align="left", cell=lambda row: order[row["kind"]]),
            Column("Bounds", align="left", cell=bounds),
            Column("Setting", align="left", cell=lambda row: row["setting"]),
            Column("Alarmed", cell=lambda row: f"{row['alarmed']} of {row['n']}"),
            Column(
                "Percent",
                cell=lambda row: with_interval(row["value"], row["ci_low"], row["ci_high"]),
            ),
        ),
        alarms.to_dicts(),
        _caption(shown, f"False alarms of version {shown.versions[-1]}"),
        (ALARM_NOTE.format(interval=100 * shown.confidence),),
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
                for setting in shown.settings
                for heading, metric in (("Accuracy", "accuracy"), ("Named", "coverage"))
            ),
            *(
                Column(f"{milliseconds:g} ms", "Time, steps of", cell=partial(time, milliseconds))
                for milliseconds in sorted(shown.cost["nominal_milliseconds"].unique())
            ),
        ),
        LADDER,
        _caption(shown, f"What must be logged to know why, by version {version}"),
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
            *(Column(setting, "Lost", cell=partial(cell, setting)) for setting in shown.settings),
        ),
        lost.sort("value", "name", descending=[True, False]).to_dicts(),
        _caption(shown, f"What each family of invariants is worth to version {version}"),
        (FAMILY_NOTE, INTERVAL_NOTE.format(interval=100 * shown.confidence)),
    )


def _first_scored(row: Mapping[str, Any]) -> str:
    return row["first_scored"] or ABSENT


def _history_table(history: pl.DataFrame) -> Table:
    return Table.of(
        "monitor_versions",
        (
            Column("Version", align="left", cell=lambda row: row["version"]),
            Column("Frozen on", align="left", cell=lambda row: row["date"]),
            Column("SHA-256", align="left", cell=lambda row: row["hash"][:12]),
            Column("What changed", align="left", width=0.3, cell=lambda row: row["changed"]),
            Column("Why", align="left", width=0.25, cell=lambda row: row["why"]),
            Column("First scored", align="left", width=0.2, cell=_first_scored),
        ),
        history.to_dicts(),
        f"The {counted(history.height, 'version')} of the monitor's rules that were frozen.",
        (HISTORY_NOTE,),
    )
