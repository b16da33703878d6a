"""The figure: four lenses at a healthy and at other models."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.lenses.catalogue import LENSES
from failbench.lenses.drawing import draw_curves, marks_of, name_axes, outcome_handles
from failbench.reporting.cells import words
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import (
    BLACK,
    FULL_WIDTH,
    GREEN,
    ORANGE,
    PURPLE,
    Mark,
)

HEIGHT: Final = 4.0
"""Inches."""

PROMPT_COLOURS: Final = (BLACK, GREEN, PURPLE, ORANGE)

TITLES: Final = {
    "surface": "surface: where",
    "fft": "fft: how the problem is shown",
    "compression": "compression: how",
    "hazard": "hazard: when",
}


def lenses_picture(curves: pl.DataFrame, task: str, finding: str) -> Picture:
    """Four panels, a lens each, with a line a model."""
    return Picture(
        finding,
        f"Four panels of the task {task}, with a colour for each of a healthy and of other models: "
        "accuracy by length, the different spectra of prompts, compressed bytes by tokens "
        "of right and wrong answers, and cumulative incidences of right and wrong answers by "
        "tokens, with intervals.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw_lenses, curves),
    )


def _draw_lenses(curves: pl.DataFrame, figure: Figure) -> None:
    panels = figure.subplots(2, 2)
    shown = curves.filter(pl.col("lens") != "fft")
    marks = marks_of(shown["condition"].unique(maintain_order=True).to_list())
    prompts = curves.filter(lens="fft").select("condition", "tokenizer").unique(maintain_order=True)
    for axes, lens in zip(panels.flat, LENSES, strict=True):
        of_lens = curves.filter(lens=lens)
        if lens == "fft":
            for (condition, tokenizer), colour in zip(
                prompts.iter_rows(), PROMPT_COLOURS, strict=False
            ):
                drawn = of_lens.filter(condition=condition, tokenizer=tokenizer)
                label = f"{tokenizer}, {words(condition)}"
                draw_curves(axes, lens, drawn, Mark(label, colour, ""))
                axes.plot([], [], color=colour, label=label)
            axes.legend(loc="upper left")
            name_axes(axes, lens)
            # room for the legend above the spectra
            axes.set_ylim(top=(1 + 0.14 * prompts.height) * of_lens["y"].to_numpy().max())
        else:
            for condition, mark in marks.items():
                draw_curves(axes, lens, of_lens.filter(condition=condition), mark)
            name_axes(axes, lens)
        axes.set_title(TITLES[lens])
    handles = [Mark(words(name), mark.colour, mark.marker).handle for name, mark in marks.items()]
    legend_outside(figure, [*handles, *outcome_handles()], columns=6, handlelength=2.2)
