"""Architectures: the rates on each of them as tables, the paper's beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.reporting.labels import ARCHITECTURE_LABELS
from failbench.reporting.reported import ArchitecturesTable, validate_reported
from failbench.reporting.table import Column, Table
from failbench.scenarios import ARCHITECTURES, Architecture
from failbench.studies.architectures.measure import RECORDED, THRESHOLDS, ArchitecturesSettings
from failbench.studies.architectures.rates import OVER_LOGS, RULES, SIZE

THRESHOLD_LABELS: Final[Mapping[str, str]] = {
    "reference": "Reference, mean + {sds:g} sd",
    "own_deviations": "Own, mean + {sds:g} sd",
    "own_percentile": "Own, percentile {percentile:g}",
    "own_percentile_and_limit": "Own, percentile {percentile:g}, limit too",
}

SPREAD: Final = "Highest less lowest"

RATES_NOTE = (
    "Percent, with {interval:g} % intervals by resampling within categories the n scenarios that "
    "the architecture has; all its runs move together. Measured: improved rules with the weights "
    "and thresholds of the reference architecture, no tested scenario among what they were weighed "
    "on. Noise: {logs} times, every measurement of every step (loss, gradient norm, memory, "
    "seconds) of the tested runs times a log-normal factor of this relative size; thresholds stay "
    "those of the recorded logs. Over logs: Student's interval over the noisy logs alone, the "
    "scenarios being given. Reported: the paper's improved rules on its "
    "own scenarios ({place}); its text says that they vary by {claimed} points. Highest less "
    "lowest is above zero by chance alone."
)
THRESHOLDS_NOTE = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, on the logs "
    "as recorded. The weights of the rules are the reference's throughout. Reference: thresholds "
    "from its successful runs. Own: from the successful runs of the architecture itself, without "
    "its failures. Percentile: quantiles {low:g} and {percentile:g} % of those runs (Section "
    "8.9.5), which few runs put next to their largest value. Limit too: so is the gradient norm "
    "above which it is an explosion, elsewhere {limit:g}."
)


def architectures_table(
    table: pl.DataFrame,
    reported: Mapping[str, object],
    settings: ArchitecturesSettings,
    *,
    confidence: float,
) -> Table:
    """The paper's Table 3 beside the same measured, as recorded and with noise.

    Parameters
    ----------
    table
        As :func:`failbench.studies.architectures.rates.architectures_study` returns it.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        For the note.
    confidence
        Of the intervals, as a fraction.

    Returns
    -------
    Table
        A row an architecture, and one for the distance of the highest from the lowest.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    printed = paper.tables.architectures
    rules = _rules(table)
    levels = (RECORDED, *settings.noise)
    rows = []
    for name in architectures_in(rules):
        here = rules.filter(pl.col("architecture") == name)
        cells = [
            rate_cell(here, metric, noise)
            for noise in levels
            for metric in ("accuracy", "macro_f1")
        ]
        recorded = found(here, "accuracy", RECORDED)
        rows.append(
            (
                ARCHITECTURE_LABELS[name],
                *_reported_cells(name, printed),
                _millions(found(here, SIZE, RECORDED)),
                *cells,
                rate_cell(here, OVER_LOGS, settings.noise[-1]),
                str(recorded["n"]),
                str(recorded["runs"]),
            )
        )
    rows.append(
        (
            SPREAD,
            "",
            spread([one.accuracy for one in printed.rows.values()]),
            spread([one.f1 for one in printed.rows.values()]),
            "",
            *(
                spread(values_of(rules, metric, noise))
                for noise in levels
                for metric in ("accuracy", "macro_f1")
            ),
            "",
            "",
            "",
        )
    )
    claimed = paper.claims["architecture_range"].value
    assert isinstance(claimed, float)
    groups = ["as recorded", *(f"noise {100 * level:g} %" for level in settings.noise)]
    return Table(
        "architectures",
        (
            Column("Architecture", align="left"),
            Column("Parameters", "reported"),
            Column("Accuracy", "reported"),
            Column("F1", "reported"),
            Column("Parameters"),
            *(Column(heading, group) for group in groups for heading in ("Accuracy", "Macro-F1")),
            Column("Accuracy over logs", groups[-1]),
            Column("n"),
            Column("Runs"),
        ),
        tuple(rows),
        "How often the improved rules name the right cause on six architectures.",
        (
            RATES_NOTE.format(
                interval=100 * confidence,
                logs=settings.noisy_logs,
                place=printed.place,
                claimed=percent(claimed),
            ),
        ),
    )


def thresholds_table(
    table: pl.DataFrame,
    settings: ArchitecturesSettings,
    *,
    healthy_sds: float,
    gradient_norm: float,
    confidence: float,
) -> Table:
    """Accuracy and abstention of the improved rules under each kind of threshold.

    Parameters
    ----------
    table
        As for :func:`architectures_table`.
    settings
        The percentile.
    healthy_sds, gradient_norm
        What the rules take elsewhere.
    confidence
        Of the intervals, as a fraction.
    """
    rules = table.filter(pl.col("study") == RULES, pl.col("noise") == RECORDED)
    kinds = [name for name in THRESHOLDS if name in set(rules["thresholds"])]
    shown = ("accuracy", "abstention_rate")
    rows = []
    for name in architectures_in(rules):
        here = rules.filter(pl.col("architecture") == name)
        parts = [here.filter(pl.col("thresholds") == kind) for kind in kinds]
        cells = [rate_cell(part, metric, RECORDED) for part in parts for metric in shown]
        n = found(parts[0], "accuracy", RECORDED)["n"]
        rows.append((ARCHITECTURE_LABELS[name], *cells, str(n)))
    spreads = [
        spread(values_of(rules.filter(pl.col("thresholds") == kind), metric, RECORDED))
        for kind in kinds
        for metric in shown
    ]
    rows.append((SPREAD, *spreads, ""))
    labels = [threshold_label(kind, settings, healthy_sds) for kind in kinds]
    return Table(
        "architecture_thresholds",
        (
            Column("Architecture", align="left"),
            *(Column(heading, label) for label in labels for heading in ("Accuracy", "Abstention")),
            Column("n"),
        ),
        tuple(rows),
        "What thresholds of an architecture's own are worth to the improved rules.",
        (
            THRESHOLDS_NOTE.format(
                interval=100 * confidence,
                low=100 - 100 * settings.percentile,
                percentile=100 * settings.percentile,
                limit=gradient_norm,
            ),
        ),
    )


def threshold_label(kind: str, settings: ArchitecturesSettings, healthy_sds: float) -> str:
    """What a kind of threshold is called."""
    return THRESHOLD_LABELS[kind].format(sds=healthy_sds, percentile=100 * settings.percentile)


def _rules(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("study") == RULES, pl.col("thresholds") == "reference")


def architectures_in(table: pl.DataFrame) -> list[Architecture]:
    """The architectures of a table, in the paper's order."""
    found = set(table["architecture"])
    return [name for name in ARCHITECTURES if name in found]


def found(table: pl.DataFrame, metric: str, noise: float) -> dict[str, object]:
    """The row of a metric; there is one."""
    return table.row(
        by_predicate=(pl.col("metric") == metric) & (pl.col("noise") == noise), named=True
    )


def rate_cell(table: pl.DataFrame, metric: str, noise: float) -> str:
    """A rate with its interval; a dash where it was not measured."""
    rows = table.filter(pl.col("metric") == metric, pl.col("noise") == noise)
    if rows.is_empty():
        return ABSENT
    row = rows.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def values_of(table: pl.DataFrame, metric: str, noise: float) -> list[float]:
    """A metric on each architecture."""
    rows = table.filter(pl.col("metric") == metric, pl.col("noise") == noise)
    return rows["value"].to_list()


def spread(values: Sequence[float]) -> str:
    """The highest less the lowest, in points; a dash where there is none."""
    return percent(max(values) - min(values)) if values else ABSENT


def number(value: object) -> float:
    """A number of a row, which may hold anything."""
    assert isinstance(value, float)
    return value


def _reported_cells(name: Architecture, paper: ArchitecturesTable) -> tuple[str, str, str]:
    one = paper.rows.get(name)
    if one is None:
        return ABSENT, ABSENT, ABSENT
    size = f"{one.parameters / 1e6:g} M"
    return size, with_interval(one.accuracy, *one.interval), percent(one.f1)


def _millions(row: Mapping[str, object]) -> str:
    return f"{number(row['value']) / 1e6:.2f} M"
