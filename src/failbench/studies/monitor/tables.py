"""Tables of the monitor: how often it is right, where, when, and how often it cries wolf."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, get_args

import polars as pl

from failbench.monitored.verdicts import OWN
from failbench.reporting.cells import ABSENT, counted, signed, with_interval, words
from failbench.reporting.labels import (
    in_label_order,
    method_label,
    reads_label,
)
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.monitor.counts import OTHER_ARCHITECTURES
from failbench.studies.monitor.detail_tables import detail_tables
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.results import LESS, LOGIC
from failbench.studies.monitor.shown import ANSWER_NOTE, INTERVAL_NOTE, Shown, blind_note, caption

AHEAD_NOTE: Final = (
    "Whole log: of runs that go on after a failure, with what is logged later. Steps before "
    "failure: of the runs with so many steps between onset and failure, from the log up to there, "
    "the end unknown. First break: steps after onset, median and quartiles, whole logs; runs in "
    "which something broke before onset, and in which nothing broke, are counted beside."
)
ALARM_NOTE: Final = (
    "A false alarm is a healthy run of which a category is named. Wilson's {interval:g} % "
    "intervals, n = runs. Logic: what needs no bounds; own: bounds of the setting's successes "
    "besides, which alarm on none of those that they were fitted to, and whose margin was chosen "
    "on these and the twins of the development half; else bounds fitted to another setting, of "
    "which no run counts. Other architectures: settings of another architecture than {reference}; "
    "all: with its other optimizers too."
)
SETTINGS_NOTE: Final = (
    "Own: fitted to successful runs of the setting. Less: points of accuracy above that of the "
    "reference, on the scenarios and seeds that both have. All, by bounds of one setting: runs of "
    "the others."
)
METHODS_NOTE: Final = (
    "Out of fold, in the folds of the main study; each method learns from the runs of these "
    "scenarios alone, and reads what was known at the failure. The answers of the invariants are "
    "those of frozen rules, of their last version. "
    "Less this: differences in points, of development; those with the forest and with simple rules "
    "were named before the monitor's first rules were scored."
)
HISTORY_NOTE: Final = (
    "Hash: of catalogue, precedence and bounds, whole in data/monitor. First scored: on the runs "
    "that were recorded then; other tables score every version on those of today."
)
HEALTHY_LABELS: Final = {
    "twin": "Twins",
    "twin_of_test_half": "Of these, twins of the test half",
    "success": "Successes",
}


def monitor_tables(shown: Shown, history: pl.DataFrame) -> tuple[Table, ...]:
    """All tables of the study."""
    return (
        _whole_table(shown),
        _settings_table(shown),
        _alarm_table(shown),
        *detail_tables(shown),
        _history_table(history),
    )


def method_rates_table(rates: pl.DataFrame, setting: str, halves: str, confidence: float) -> Table:
    """Methods on what the monitor knows, and others that were fitted to the same runs."""

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


def _whole_table(shown: Shown) -> Table:
    rows: list[Any] = []
    for version in shown.versions:
        rows.append(Divider(f"Version {version}"))
        rows += [
            {"version": version, "setting": setting}
            for setting in shown.settings(version)
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
        caption(shown, "How often the monitor names the right one of five categories"),
        (
            *blind_note(shown),
            ANSWER_NOTE,
            INTERVAL_NOTE.format(interval=100 * shown.confidence),
            AHEAD_NOTE,
        ),
    )


def _settings_table(shown: Shown) -> Table:
    """Each setting with bounds of its own and of others, of the last version."""
    version = shown.versions[-1]

    def accuracy(part: str, name: str, setting: str) -> str:
        key = {"version": version, "setting": setting, "part": part, "name": name}
        return shown.cell(**key, metric="accuracy")

    def less(setting: str) -> str:
        key = {"version": version, "setting": setting, "part": LESS, "name": shown.reference}
        return shown.cell(lambda value: signed(100 * value), **key, metric="difference")

    def size(setting: str) -> str:
        return shown.size(version=version, setting=setting, part="whole", metric="accuracy")

    return Table.of(
        "monitor_settings",
        (
            Column("Setting", align="left", cell=str),
            Column("Scenarios / runs", cell=size),
            Column("own bounds", "Accuracy", cell=partial(accuracy, "whole", "whole")),
            *(
                Column(f"bounds of {name}", "Accuracy", cell=partial(accuracy, "borrowed", name))
                for name in shown.lenders
            ),
            Column("logic alone", "Accuracy", cell=partial(accuracy, LOGIC, LOGIC)),
            Column(f"Own bounds, less {shown.reference}", cell=less),
        ),
        shown.settings(version),
        caption(shown, f"Accuracy of version {version} by setting, and whose bounds it had"),
        (ANSWER_NOTE, SETTINGS_NOTE, INTERVAL_NOTE.format(interval=100 * shown.confidence)),
    )


def _alarm_table(shown: Shown) -> Table:
    version = shown.versions[-1]
    alarms = shown.alarms.filter(version=version)

    def cell(bounds: str, row: Mapping[str, Any]) -> str:
        found = alarms.filter(kind=row["kind"], setting=row["setting"], bounds=bounds).to_dicts()
        if not found:
            return ABSENT
        rate = with_interval(*(found[0][name] for name in ("value", "ci_low", "ci_high")))
        return f"{found[0]['alarmed']}: {rate}"

    labels = {LOGIC: "logic alone", OWN: "own bounds"}
    labels |= {name: f"bounds of {name}" for name in shown.lenders}
    rows: list[Any] = []
    for kind, label in HEALTHY_LABELS.items():
        of_kind = alarms.filter(kind=kind, bounds=OWN)
        rows.append(Divider(label))
        settings = {*shown.settings(version), OTHER_ARCHITECTURES}
        rows += [row for row in of_kind.to_dicts() if row["setting"] in settings]
    return Table.of(
        "monitor_false_alarms",
        (
            Column("Setting", align="left", cell=lambda row: words(row["setting"])),
            Column("Runs", cell=lambda row: str(row["n"])),
            *(
                Column(label, "Alarmed: percent", cell=partial(cell, bounds))
                for bounds, label in labels.items()
            ),
        ),
        rows,
        caption(shown, f"False alarms of version {version}"),
        (ALARM_NOTE.format(interval=100 * shown.confidence, reference=shown.reference),),
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
