"""The figure of generalization: a dot per method and study, drawn from its published points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.style import BLACK, BLUE, ORANGE, VERMILLION

WIDTH = 3.4
"""Inches: that of one column, so that no letter shrinks below its size."""

FONT = 6.5
ROW_HEIGHT = 0.36
"""Inches per method."""

SPREAD = 0.62
"""Share of a row that the dots of its studies take."""


@dataclass(frozen=True)
class StudyMark:
    """How a study is called and drawn; markers differ, for eyes and printers without colours."""

    label: str
    colour: str
    marker: str


MARKS: Final[dict[str, StudyMark]] = {
    NESTED_CV: StudyMark("reference architecture, new scenarios", BLACK, "o"),
    POOLED: StudyMark("all architectures, new scenarios", BLUE, "s"),
    LEFT_OUT: StudyMark("architecture left out, new scenarios", VERMILLION, "D"),
    KNOWN_SCENARIOS: StudyMark("architecture left out, known scenarios", ORANGE, "^"),
}


def draw_generalization(points: pl.DataFrame) -> Figure:
    """Accuracy on the paper's features with its interval, a row per method and a mark per study.

    Methods that only the main study has are left out, as they are of the table: there is nothing to
    hold them against.

    Parameters
    ----------
    points
        As :func:`failbench.studies.generalization.results.generalization_table` returns them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    drawn = points.filter(
        pl.col("feature_set") == PRIMARY_SET,
        pl.col("metric") == "accuracy",
        (pl.col("study") != NESTED_CV).any().over("method"),
    )
    methods = in_label_order(drawn["method"])
    figure = Figure(figsize=(WIDTH, 1.2 + ROW_HEIGHT * len(methods)), layout="constrained")
    axes = figure.subplots()
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(MARKS))
    for (study, mark), offset in zip(MARKS.items(), offsets, strict=True):
        of_study = drawn.filter(pl.col("study") == study).sort("method")
        rows = np.array([methods.index(method) for method in of_study["method"]], dtype=float)
        draw_marks(
            axes, of_study, rows + offset, colour=mark.colour, marker=mark.marker, label=mark.label
        )
    rule_rows(axes, [method_label(method) for method in methods], FONT)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("accuracy", fontsize=FONT)
    figure.legend(loc="outside upper left", fontsize=FONT, handletextpad=0.3)
    return figure
