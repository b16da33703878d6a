"""Drawing: the points of a look on axes, alike in the figures of commands and of studies."""

from __future__ import annotations

from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from failbench.lenses.catalogue import Lens
from failbench.lenses.traces import CORRECT, TRUNCATED, WRONG
from failbench.reporting.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    Mark,
)

RIGHT_LINE: Final[LineStyleType] = "-"
FAILED_LINE: Final[LineStyleType] = (0, (3.0, 1.5))
"""Right answers are full lines and marks, wrong ones broken lines and hollow marks."""

LOOKS: Final = (
    (GREY, "s"),
    (BLUE, "o"),
    (VERMILLION, "D"),
    (GREEN, "^"),
    (PURPLE, "v"),
    (ORANGE, "P"),
)
"""Colours and markers of models, the reference first."""

AXES: Final[dict[Lens, tuple[str, str]]] = {
    "surface": ("length of the problem", "accuracy beyond guessing"),
    "fft": ("cycles per token of the prompt", "amplitude of token ids"),
    "compression": ("tokens of the answer", "compressed bytes"),
    "hazard": ("tokens of the answer", "cumulative incidence"),
}

_SIZE: Final = 3.2


def marks_of(names: list[str]) -> dict[str, Mark]:
    """A colour and a marker for each model, at most six."""
    return {
        name: Mark(name, colour, marker, size=_SIZE)
        for name, (colour, marker) in zip(names, LOOKS, strict=False)
    }


def draw_points(axes: Axes, lens: Lens, points: pl.DataFrame, mark: Mark) -> None:
    """Draw what a lens saw.

    Parameters
    ----------
    axes
        Several models may share them.
    lens
        Which.
    points
        As the lens emits them.
    mark
        Of the model.
    """
    _DRAWN[lens](axes, points, mark)


def name_axes(axes: Axes, lens: Lens) -> None:
    """Label the axes of a lens, whose values are never negative."""
    across, upwards = AXES[lens]
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    axes.set_ylim(bottom=0.0)
    if lens == "surface":
        axes.set_ylim(-0.02, 1.02)


def outcome_handles() -> list[Line2D]:
    """What full and broken lines mean."""
    return [
        Line2D([], [], color=BLACK, linestyle=RIGHT_LINE, label="right answers"),
        Line2D([], [], color=BLACK, linestyle=FAILED_LINE, label="wrong answers"),
    ]


def _surface(axes: Axes, points: pl.DataFrame, mark: Mark) -> None:
    by_length = points.filter(pl.col("depth").is_null(), pl.col("accuracy").is_not_null())
    accuracy = by_length["accuracy"].to_numpy()
    axes.errorbar(
        by_length["length"].to_numpy(),
        accuracy,
        yerr=(accuracy - by_length["ci_low"].to_numpy(), by_length["ci_high"] - accuracy),
        linewidth=1.0,
        elinewidth=0.5,
        **mark.look,
    )


def _fft(axes: Axes, points: pl.DataFrame, mark: Mark) -> None:
    whole = points.filter(band="all")
    frequency = whole["frequency"].to_numpy()
    axes.plot(frequency, whole["amplitude"].to_numpy(), color=mark.colour, linewidth=1.0)
    axes.fill_between(
        frequency,
        whole["ci_low"].to_numpy(),
        whole["ci_high"].to_numpy(),
        color=mark.colour,
        alpha=0.25,
        linewidth=0,
    )


def _compression(axes: Axes, points: pl.DataFrame, mark: Mark) -> None:
    for outcome, line in ((CORRECT, RIGHT_LINE), (WRONG, FAILED_LINE), (TRUNCATED, "none")):
        drawn = points.filter(outcome=outcome).sort("tokens")
        look = {**mark.look}
        if outcome != CORRECT:
            look["markerfacecolor"] = "white"
        if outcome == TRUNCATED:
            look |= {"marker": "x"}
        axes.plot(
            drawn["tokens"].to_numpy(),
            drawn["bytes"].to_numpy(),
            linestyle=line,
            linewidth=0.9,
            **look,
        )


def _hazard(axes: Axes, points: pl.DataFrame, mark: Mark) -> None:
    tokens = points["last_token"].to_numpy()
    for name, line in (("right", RIGHT_LINE), ("wrong", FAILED_LINE)):
        axes.plot(
            tokens,
            points[f"{name}_incidence"].to_numpy(),
            color=mark.colour,
            linestyle=line,
            linewidth=1.0,
        )
        bounds = points.select("last_token", f"{name}_incidence_low", f"{name}_incidence_high")
        known = bounds.drop_nulls()
        axes.fill_between(
            known["last_token"].to_numpy(),
            known[f"{name}_incidence_low"].to_numpy(),
            known[f"{name}_incidence_high"].to_numpy(),
            color=mark.colour,
            alpha=0.2,
            linewidth=0,
        )


_DRAWN: Final = {
    "surface": _surface,
    "fft": _fft,
    "compression": _compression,
    "hazard": _hazard,
}
