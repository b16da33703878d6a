"""The figure of the architectures: the paper's accuracies, and what the rules reach on ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.labels import ARCHITECTURE_LABELS
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLUE, GREY, ORANGE, SKY, VERMILLION
from failbench.scenarios import Architecture
from failbench.studies.architectures.cells import architectures_in
from failbench.studies.architectures.measure import RECORDED, RULES
from failbench.studies.architectures.results import ArchitecturesSettings

WIDTH: Final = 3.4
"""Inches: that of one column, so that no letter shrinks below its size."""

FONT: Final = 6.5
ROW_HEIGHT: Final = 0.46
"""Inches per architecture."""

REPEATED: Final = 0.66
"""Share of a row that its dots take."""


@dataclass(frozen=True)
class Mark:
    """How a set of accuracies is called and drawn; markers differ, for eyes without colours."""

    label: str
    colour: str
    marker: str


def draw_architectures(
    points: pl.DataFrame, paper: Reported, settings: ArchitecturesSettings
) -> Figure:
    """Accuracy with its interval, a row per architecture and a mark per condition.

    The band is the margin of equivalence about the mean of the rules' accuracies as recorded.

    Parameters
    ----------
    points
        As :func:`failbench.studies.architectures.results.architecture_rates` returns them.
    paper
        What the paper prints.
    settings
        Noise and margin.
    """
    accuracies = points.filter(pl.col("metric") == "accuracy")
    names = architectures_in(accuracies)
    figure = Figure(figsize=(WIDTH, 1.35 + ROW_HEIGHT * len(names)), layout="constrained")
    axes = figure.subplots()
    rules = accuracies.filter(pl.col("study") == RULES)
    recorded = _of(rules, "reference", RECORDED)["value"].to_numpy()
    axes.axvspan(
        recorded.mean() - settings.equivalence_margin,
        recorded.mean() + settings.equivalence_margin,
        color=BLUE,
        alpha=0.10,
        linewidth=0,
        label=f"mean as recorded ± {100 * settings.equivalence_margin:g} points",
    )
    conditions = _conditions(accuracies, _reported(paper, names), settings)
    offsets = np.linspace(-REPEATED / 2, REPEATED / 2, len(conditions))
    for (mark, drawn), offset in zip(conditions, offsets, strict=True):
        rows = np.array([names.index(name) for name in drawn["architecture"]], dtype=float)
        draw_marks(
            axes, drawn, rows + offset, colour=mark.colour, marker=mark.marker, label=mark.label
        )
    rule_rows(axes, [ARCHITECTURE_LABELS[name] for name in names], FONT)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlim(0.0, 1.0)
    n = sorted(set(rules["n"]))
    axes.set_xlabel(f"accuracy (n = {' or '.join(map(str, n))} scenarios)", fontsize=FONT)
    figure.legend(loc="outside upper left", fontsize=FONT, handletextpad=0.3)
    return figure


def _reported(paper: Reported, names: list[Architecture]) -> pl.DataFrame:
    """The paper's accuracies, of the architectures that it has."""
    printed = paper.tables.architectures.rows
    return pl.DataFrame(
        [
            (name, printed[name].accuracy, *printed[name].interval)
            for name in names
            if name in printed
        ],
        schema=["architecture", "value", "ci_low", "ci_high"],
        orient="row",
    )


def _conditions(
    accuracies: pl.DataFrame, reported: pl.DataFrame, settings: ArchitecturesSettings
) -> list[tuple[Mark, pl.DataFrame]]:
    """What is drawn, each set of accuracies with its mark."""
    rules = accuracies.filter(pl.col("study") == RULES)
    noisiest = settings.noise[-1]
    return [
        (Mark("paper, improved rules", GREY, "o"), reported),
        (
            Mark("improved rules, logs as recorded", BLUE, "s"),
            _of(rules, "reference", RECORDED),
        ),
        (
            Mark(f"the same, {100 * noisiest:g} % noise", SKY, "v"),
            _of(rules, "reference", noisiest),
        ),
        (
            Mark(f"the same, own percentile {100 * settings.percentile:g}", ORANGE, "D"),
            _of(rules, "own_percentile", RECORDED),
        ),
        (
            Mark("random forest, architecture left out", VERMILLION, "P"),
            accuracies.filter(pl.col("study") == LEFT_OUT, pl.col("method") == "random_forest"),
        ),
    ]


def _of(rules: pl.DataFrame, thresholds: str, noise: float) -> pl.DataFrame:
    return rules.filter(pl.col("thresholds") == thresholds, pl.col("noise") == noise)
