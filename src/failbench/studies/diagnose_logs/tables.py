"""Tables of the study of logs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, get_args

import polars as pl

from failbench.diagnose.answer import Level
from failbench.readers.names import SIGNALS
from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval, words
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.diagnose_logs.notes import (
    ALARMS,
    EVIDENCE_NOTE,
    FORMATS_NOTE,
    HEADLINE_NOTE,
    INTERVALS,
    LEVELS_NOTE,
    LOGS,
    PEERS,
    SIGNALS_NOTE,
    SURE,
    TOLD,
)
from failbench.studies.diagnose_logs.results import (
    CATEGORY,
    FORMAT,
    LEVEL,
    LOGGED,
    NOT_LOGGED,
    SAYS_END,
    SIGNAL,
    WHOLE,
    surest_words,
)
from failbench.studies.diagnose_logs.shown import MODEL_LABELS, OURS, PEER_LABELS, Shown


def tables(shown: Shown) -> tuple[Table, ...]:
    """All tables of the study."""
    return (
        _headline_table(shown),
        _main_table(shown),
        _format_table(shown),
        _signal_table(shown),
        _by_model(
            shown,
            CATEGORY,
            CATEGORY_LABELS,
            "Accuracy by the category of the root cause.",
            _notes(shown)[:2],
        ),
        _by_model(
            shown,
            LEVEL,
            {name: name for name in get_args(Level)},
            "Accuracy by the confidence that an answer states.",
            (LEVELS_NOTE.format(interval=100 * shown.confidence),),
        ),
        _peer_table(shown),
        _evidence_table(shown),
    )


def _rate(rates: pl.DataFrame, metric: str, **keys: str) -> str:
    rows = rates.filter(metric=metric, **keys).to_dicts()
    if not rows:
        return ABSENT
    return with_interval(rows[0]["value"], rows[0]["ci_low"], rows[0]["ci_high"])


def _size(rates: pl.DataFrame, **keys: str) -> str:
    rows = rates.filter(metric="accuracy", **keys).to_dicts()
    return f"{rows[0]['n']} / {rows[0]['logs']:,}" if rows else ABSENT


def _most(counts: pl.Series) -> int:
    return max(counts.to_list(), default=0)


def _intervals(shown: Shown) -> str:
    return INTERVALS.format(
        interval=100 * shown.confidence, seeds=shown.seeds, repeats=shown.repeats
    )


def _notes(shown: Shown) -> tuple[str, ...]:
    return (
        TOLD.format(causes=shown.causes),
        LOGS.format(
            runs=f"{shown.runs:,}", formats=shown.formats_per_run, monitored=shown.monitored
        ),
        SURE.format(coverage=100 * shown.coverage, bins=shown.bins, risk=surest_words(shown.risks)),
        ALARMS,
        _intervals(shown),
    )


def _headline_table(shown: Shown) -> Table:
    """What the README shows: our answers by the kind of log, and other tools."""

    def of_logs(metric: str, model: str) -> str:
        return _rate(shown.rates, metric, model=model, part=WHOLE)

    def alarms(model: str) -> str:
        rows = shown.alarms.filter(model=model, kind="success").to_dicts()
        return percent(rows[0]["value"]) if rows else ABSENT

    def of_peer(metric: str, method: str) -> str:
        return _rate(shown.peers, metric, method=method)

    def peer_alarms(method: str) -> str:
        rows = shown.peers.filter(method=method, metric="alarm_success").to_dicts()
        return percent(rows[0]["value"]) if rows else ABSENT

    models = [model for model in MODEL_LABELS if model in set(shown.rates["model"])]
    methods = [OURS, *sorted(set(shown.peers["method"]) - {OURS})]
    rows = [
        (
            f"failbench, {MODEL_LABELS[model]}",
            of_logs("accuracy", model),
            of_logs("cause_accuracy", model),
            alarms(model),
        )
        for model in models
    ] + [
        (PEER_LABELS[method], of_peer("accuracy", method), ABSENT, peer_alarms(method))
        for method in methods
    ]
    return Table(
        "headline",
        (
            Column("From a log", align="left"),
            Column("Category of five right"),
            Column("Root cause right"),
            Column("False alarms"),
        ),
        tuple(rows),
        "How often the category of five and the root cause of a failed run are right, in percent.",
        (
            HEADLINE_NOTE.format(
                scenarios=_most(shown.rates.filter(metric="accuracy", part=WHOLE)["n"]),
                seeds=shown.seeds,
                repeats=shown.repeats,
                interval=100 * shown.confidence,
                formats=shown.rates.filter(part=FORMAT)["name"].n_unique(),
                successes=_most(shown.alarms.filter(kind="success")["n"]),
                reference=_most(shown.peers.filter(metric="alarm_success")["n"]),
            ),
        ),
    )


def _main_table(shown: Shown) -> Table:
    def rate(metric: str, model: str) -> str:
        return _rate(shown.rates, metric, model=model, part=WHOLE)

    def alarms(kind: str, model: str) -> str:
        rows = shown.alarms.filter(model=model, kind=kind).to_dicts()
        if not rows:
            return ABSENT
        return with_interval(rows[0]["value"], rows[0]["ci_low"], rows[0]["ci_high"])

    def calibration(model: str) -> str:
        (row,) = shown.rates.filter(model=model, part=WHOLE, metric="calibration_error").to_dicts()
        return f"{three_decimals(row['value'])} / {three_decimals(shown.floors[model])}"

    return Table.of(
        "diagnose_logs",
        (
            Column("Log", align="left", cell=MODEL_LABELS.__getitem__),
            Column(
                "Scenarios / logs", cell=lambda model: _size(shown.rates, model=model, part=WHOLE)
            ),
            Column("category", "Accuracy", cell=partial(rate, "accuracy")),
            Column("root cause", "Accuracy", cell=partial(rate, "cause_accuracy")),
            Column(
                f"Surest {100 * shown.coverage:.0f} %", cell=partial(rate, "selective_accuracy")
            ),
            Column("When named", cell=partial(rate, "named_accuracy")),
            Column("Named", cell=partial(rate, "named")),
            Column("Calibration, floor", cell=calibration),
            Column("successes", "False alarms", cell=partial(alarms, "success")),
            Column("twins", "False alarms", cell=partial(alarms, "twin")),
        ),
        [model for model in MODEL_LABELS if model in set(shown.rates["model"])],
        "How often the category of five and the root cause are told from a log, by what it is.",
        _notes(shown),
    )


def _format_table(shown: Shown) -> Table:
    rates = shown.rates.filter(part=FORMAT)
    names = rates.filter(metric="accuracy").sort("value", descending=True)["name"].to_list()
    return Table.of(
        "diagnose_logs_formats",
        (
            Column("Format", align="left", cell=words),
            Column("Scenarios / logs", cell=lambda name: _size(rates, name=name)),
            Column("category", "Accuracy", cell=lambda name: _rate(rates, "accuracy", name=name)),
            Column(
                "root cause",
                "Accuracy",
                cell=lambda name: _rate(rates, "cause_accuracy", name=name),
            ),
            Column("Something found", cell=lambda name: _rate(rates, "alarmed", name=name)),
        ),
        names,
        "Accuracy by the format of the log, without a monitor.",
        (
            FORMATS_NOTE,
            *_notes(shown)[:2],
            _intervals(shown),
        ),
    )


def _signal_table(shown: Shown) -> Table:
    rates = shown.rates.filter(part=SIGNAL)

    def rate(state: str, metric: str, name: str) -> str:
        return _rate(rates, metric, name=f"{name}: {state}")

    return Table.of(
        "diagnose_logs_signals",
        (
            Column("Signal", align="left", cell=words),
            Column(
                "logs with it",
                cell=lambda name: _size(rates, name=f"{name}: {LOGGED}"),
            ),
            *(
                Column(f"category, {state}", "Accuracy", cell=partial(rate, state, "accuracy"))
                for state in (LOGGED, NOT_LOGGED)
            ),
            *(
                Column(
                    f"root cause, {state}", "Accuracy", cell=partial(rate, state, "cause_accuracy")
                )
                for state in (LOGGED, NOT_LOGGED)
            ),
        ),
        [*SIGNALS, SAYS_END],
        "Accuracy by what is logged, without a monitor.",
        (
            SIGNALS_NOTE,
            _intervals(shown),
        ),
    )


_NAMES: Final = {CATEGORY: "diagnose_logs_categories", LEVEL: "diagnose_logs_confidence"}


def _by_model(
    shown: Shown, part: str, labels: Mapping[Any, str], caption: str, notes: tuple[str, ...]
) -> Table:
    """Accuracy in each part of the answers of each model."""
    rates = shown.rates.filter(part=part)
    rows: list[Any] = []
    for model in MODEL_LABELS:
        if model in set(rates["model"]):
            rows.append(Divider(MODEL_LABELS[model]))
            rows += [(model, name) for name in labels]

    def rate(metric: str, row: tuple[str, str]) -> str:
        return _rate(rates, metric, model=row[0], name=row[1])

    return Table.of(
        _NAMES[part],
        (
            Column(words(part).capitalize(), align="left", cell=lambda row: labels[row[1]]),
            Column("Scenarios / logs", cell=lambda row: _size(rates, model=row[0], name=row[1])),
            Column("category", "Accuracy", cell=partial(rate, "accuracy")),
            Column("root cause", "Accuracy", cell=partial(rate, "cause_accuracy")),
            Column("Something found", cell=partial(rate, "alarmed")),
        ),
        rows,
        caption,
        notes,
    )


def _peer_table(shown: Shown) -> Table:
    def cell(metric: str, row: Mapping[str, Any]) -> str:
        return _rate(shown.peers, metric, method=row["method"], format=row["format"])

    rows = shown.peers.filter(metric="accuracy").to_dicts()
    return Table.of(
        "diagnose_logs_peers",
        (
            Column("Tool", align="left", cell=lambda row: PEER_LABELS[row["method"]]),
            Column("Reads", align="left", cell=lambda row: words(row["format"])),
            Column("Scenarios / runs", cell=lambda row: f"{row['n']} / {row['logs']}"),
            Column("Category right", cell=partial(cell, "accuracy")),
            Column("When named", cell=partial(cell, "named_accuracy")),
            Column("Named", cell=partial(cell, "named")),
            Column("Something found", cell=partial(cell, "detected")),
            Column("successes", "False alarms", cell=partial(cell, "alarm_success")),
            Column("twins", "False alarms", cell=partial(cell, "alarm_twin")),
        ),
        rows,
        "Other tools beside ours, on complete logs of the same runs.",
        (PEERS.format(interval=100 * shown.confidence, seeds=shown.seeds),),
    )


def _evidence_table(shown: Shown) -> Table:
    counts = (
        shown.evidence.group_by("kind", "checked_by")
        .agg(items=pl.len(), found=pl.col("found").sum())
        .sort("kind", "checked_by")
    )
    return Table.of(
        "diagnose_logs_evidence",
        (
            Column("Evidence", align="left", cell=lambda row: row["kind"]),
            Column("Looked up by", align="left", cell=lambda row: row["checked_by"]),
            Column("Items", cell=lambda row: f"{row['items']:,}"),
            Column("Found", cell=lambda row: percent(row["found"] / row["items"])),
        ),
        counts.to_dicts(),
        "How much of the evidence stands in the log where the diagnosis says.",
        (EVIDENCE_NOTE.format(logs=f"{shown.evidence_logs:,}"),),
    )
