"""Architectures: the rates on each of them as tables, the paper's beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.reporting.cells import ABSENT, percent
from failbench.reporting.labels import ARCHITECTURE_LABELS
from failbench.reporting.reported import Reported, ReportedArchitecture, reported_number
from failbench.reporting.table import Column, Table
from failbench.scenarios import Architecture
from failbench.studies.architectures.cells import (
    architectures_in,
    estimate,
    rate_cell,
    reported_accuracy,
    spread,
    threshold_label,
    values_of,
)
from failbench.studies.architectures.measure import (
    RECORDED,
    RULES,
    THRESHOLDS,
)
from failbench.studies.architectures.results import OVER_LOGS, ArchitecturesSettings
from failbench.studies.architectures.sizes import SIZE

SPREAD: Final = "Highest less lowest"

RATES_NOTE = (
    "Percent, with {interval:g} % intervals by resampling within categories the n scenarios that "
    "the architecture has, then their seeds. Measured: improved rules with the weights and "
    "thresholds of the reference architecture, no tested scenario among what they were weighed on. "
    "Noise: {logs} times, every measurement of every step (loss, gradient norm, memory, seconds) "
    "of the tested runs times a log-normal factor of this relative size; thresholds stay those of "
    "the recorded logs. Over logs: Student's interval over the noisy logs alone, the scenarios "
    "being given. Reported: the paper's improved rules on its own scenarios ({place}); its text "
    "says that they vary by {claimed} points. Highest less lowest is above zero by chance alone."
)
THRESHOLDS_NOTE = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds, on the logs as recorded. The weights of the rules are the reference's throughout. "
    "Reference: thresholds from its successful runs. Own: from the successful runs of the "
    "architecture itself, without its failures. Percentile: quantiles {low:g} and {percentile:g} % "
    "of those runs (Section 8.9.5), which few runs put next to their largest value. Limit too: so "
    "is the gradient norm above which it is an explosion, elsewhere {limit:g}."
)


@dataclass(frozen=True)
class ArchitectureRow:
    """What the rules reach on an architecture."""

    name: Architecture
    rates: pl.DataFrame
    paper: ReportedArchitecture | None

    @property
    def label(self) -> str:
        """What the architecture is called."""
        return ARCHITECTURE_LABELS[self.name]

    @property
    def reported_size(self) -> str:
        """Parameters of the paper's model."""
        return ABSENT if self.paper is None else f"{self.paper.parameters / 1e6:g} M"

    @property
    def reported_accuracy(self) -> str:
        """The paper's accuracy with its interval."""
        return reported_accuracy(self.paper)

    @property
    def reported_f1(self) -> str:
        """The paper's F1."""
        return ABSENT if self.paper is None else percent(self.paper.f1)

    @property
    def size(self) -> str:
        """Parameters of the models that were recorded, the median."""
        return f"{estimate(self.rates, SIZE, RECORDED)['value'] / 1e6:.2f} M"

    def rate(self, metric: str, noise: float = RECORDED, thresholds: str = "reference") -> str:
        """A rate with its interval."""
        return rate_cell(_under(self.rates, thresholds), metric, noise)

    def over_logs(self, noise: float) -> str:
        """Accuracy with the interval over noisy logs."""
        return self.rate(OVER_LOGS, noise)

    def count(self, name: str) -> str:
        """How many scenarios (``n``) or ``runs`` its rates are of."""
        return str(estimate(_under(self.rates, "reference"), "accuracy", RECORDED)[name])


@dataclass(frozen=True)
class SpreadRow:
    """The highest less the lowest of each rate; nothing of what is no rate."""

    rates: pl.DataFrame
    paper: Sequence[ReportedArchitecture] = ()

    label = SPREAD
    reported_size = size = ""

    @property
    def reported_accuracy(self) -> str:
        """The spread of the paper's accuracies."""
        return spread([row.accuracy for row in self.paper])

    @property
    def reported_f1(self) -> str:
        """The spread of the paper's F1."""
        return spread([row.f1 for row in self.paper])

    def rate(self, metric: str, noise: float = RECORDED, thresholds: str = "reference") -> str:
        """The spread of a rate."""
        return spread(values_of(_under(self.rates, thresholds), metric, noise))

    def over_logs(self, _noise: float) -> str:
        """Nothing: the interval is one of each architecture."""
        return ""

    def count(self, _name: str) -> str:
        """Nothing: architectures differ in it."""
        return ""


def architectures_table(
    table: pl.DataFrame, paper: Reported, settings: ArchitecturesSettings, *, confidence: float
) -> Table:
    """The paper's Table 3 beside the same measured, as recorded and with noise."""
    printed = paper.tables.architectures
    rules = table.filter(pl.col("study") == RULES)
    groups = {RECORDED: "as recorded"} | {
        level: f"noise {100 * level:g} %" for level in settings.noise
    }
    noisiest = settings.noise[-1]
    note = RATES_NOTE.format(
        interval=100 * confidence,
        logs=settings.noisy_logs,
        place=printed.place,
        claimed=percent(reported_number(paper, "architecture_range")),
    )
    return Table.of(
        "architectures",
        (
            Column("Architecture", align="left", cell=lambda row: row.label),
            Column("Parameters", "reported", cell=lambda row: row.reported_size),
            Column("Accuracy", "reported", cell=lambda row: row.reported_accuracy),
            Column("F1", "reported", cell=lambda row: row.reported_f1),
            Column("Parameters", cell=lambda row: row.size),
            *(
                _rate_column(heading, group, metric, noise=noise)
                for noise, group in groups.items()
                for heading, metric in (("Accuracy", "accuracy"), ("Macro-F1", "macro_f1"))
            ),
            Column(
                "Accuracy over logs", groups[noisiest], cell=lambda row: row.over_logs(noisiest)
            ),
            Column("n", cell=lambda row: row.count("n")),
            Column("Runs", cell=lambda row: row.count("runs")),
        ),
        (*_architecture_rows(rules, paper), SpreadRow(rules, tuple(printed.rows.values()))),
        f"How often the improved rules name the right one of five categories of cause on "
        f"{len(architectures_in(rules))} architectures.",
        (note,),
    )


def thresholds_table(
    table: pl.DataFrame,
    paper: Reported,
    settings: ArchitecturesSettings,
    rules: ImprovedRulesSettings,
    *,
    confidence: float,
) -> Table:
    """Accuracy and abstention of the improved rules under each kind of threshold."""
    recorded = table.filter(pl.col("study") == RULES, pl.col("noise") == RECORDED)
    known = set(recorded["thresholds"])
    labels = {kind: threshold_label(kind, settings, rules) for kind in THRESHOLDS if kind in known}
    note = THRESHOLDS_NOTE.format(
        interval=100 * confidence,
        low=100 - 100 * settings.percentile,
        percentile=100 * settings.percentile,
        limit=rules.gradient_norm,
    )
    return Table.of(
        "architecture_thresholds",
        (
            Column("Architecture", align="left", cell=lambda row: row.label),
            *(
                _rate_column(heading, label, metric, thresholds=kind)
                for kind, label in labels.items()
                for heading, metric in (("Accuracy", "accuracy"), ("Abstention", "abstention_rate"))
            ),
            Column("n", cell=lambda row: row.count("n")),
        ),
        (*_architecture_rows(recorded, paper), SpreadRow(recorded)),
        "What thresholds of an architecture's own are worth to the improved rules.",
        (note,),
    )


def _architecture_rows(rules: pl.DataFrame, paper: Reported) -> list[ArchitectureRow]:
    printed = paper.tables.architectures.rows
    return [
        ArchitectureRow(name, rules.filter(pl.col("architecture") == name), printed.get(name))
        for name in architectures_in(rules)
    ]


def _rate_column(
    heading: str, group: str, metric: str, noise: float = RECORDED, thresholds: str = "reference"
) -> Column:
    return Column(heading, group, cell=lambda row: row.rate(metric, noise, thresholds))


def _under(table: pl.DataFrame, thresholds: str) -> pl.DataFrame:
    return table.filter(pl.col("thresholds") == thresholds)
