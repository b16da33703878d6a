"""The figure of the architectures: the paper's accuracies, and what the rules reach here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.labels import ARCHITECTURE_LABELS
from failbench.reporting.reported import validate_reported
from failbench.reporting.style import BLUE, GREY, ORANGE, SKY, VERMILLION
from failbench.studies.architectures.measure import RECORDED, ArchitecturesSettings
from failbench.studies.architectures.rates import RULES
from failbench.studies.architectures.tables import architectures_in

WIDTH: Final = 3.4
"""Inches: that of one column, so that no letter shrinks below its size."""

FONT: Final = 6.5
ROW_HEIGHT: Final = 0.46
"""Inches an architecture."""

REPEATED: Final = 0.66
"""Share of a row that its dots take."""


@dataclass(frozen=True)
class Mark:
    """How a set of accuracies is called and drawn; markers differ, for eyes without colours."""

    label: str
    colour: str
    marker: str


def draw_architectures(
    points: pl.DataFrame, reported: Mapping[str, object], settings: ArchitecturesSettings
) -> Figure:
    """Accuracy with its interval, a row an architecture and a mark a condition.

    The band is the margin of equivalence about the mean of the rules' accuracies as recorded.

    Parameters
    ----------
    points
        As :func:`failbench.studies.architectures.rates.architectures_study` returns them.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        Noise and margin.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    accuracies = points.filter(pl.col("metric") == "accuracy")
    names = architectures_in(accuracies)
    paper = validate_reported(reported).tables.architectures.rows
    figure = Figure(figsize=(WIDTH, 1.35 + ROW_HEIGHT * len(names)), layout="constrained")
    axes = figure.subplots()
    rules = accuracies.filter(pl.col("study") == RULES)
    conditions = [
        (
            Mark("paper, improved rules", GREY, "o"),
            pl.DataFrame(
                [
                    (name, paper[name].accuracy, *paper[name].interval)
                    for name in names
                    if name in paper
                ],
                schema=["architecture", "value", "ci_low", "ci_high"],
                orient="row",
            ),
        ),
        (
            Mark("improved rules, logs as recorded", BLUE, "s"),
            _of(rules, "reference", RECORDED),
        ),
        (
            Mark(f"the same, {100 * settings.noise[-1]:g} % noise", SKY, "v"),
            _of(rules, "reference", settings.noise[-1]),
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
    recorded = _of(rules, "reference", RECORDED)["value"].to_numpy()
    axes.axvspan(
        recorded.mean() - settings.equivalence_margin,
        recorded.mean() + settings.equivalence_margin,
        color=BLUE,
        alpha=0.10,
        linewidth=0,
        label=f"mean as recorded ± {100 * settings.equivalence_margin:g} points",
    )
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


def _of(rules: pl.DataFrame, thresholds: str, noise: float) -> pl.DataFrame:
    return rules.filter(pl.col("thresholds") == thresholds, pl.col("noise") == noise)
