"""Figures: four lenses at a healthy and at other models; how often each names the condition."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.lenses.catalogue import LENSES
from failbench.lenses.drawing import draw_curves, marks_of, name_axes, outcome_handles
from failbench.reporting.cells import percent, words
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import (
    BLACK,
    BLUE,
    FULL_WIDTH,
    GREEN,
    GREY,
    HALF_WIDTH,
    ORANGE,
    PURPLE,
    VERMILLION,
    Mark,
)
from failbench.studies.reasoning_lenses.naming import PRIMARY
from failbench.studies.reasoning_lenses.results import ALL, SETS

HEIGHT: Final = 4.0
NAMING_HEIGHT: Final = 2.4
"""Inches."""

MARKS: Final = {
    PRIMARY: Mark("nearest mean", BLUE, "o"),
    "logistic_regression": Mark("logistic regression", VERMILLION, "s"),
    "random_forest": Mark("forest", GREY, "D"),
}

PROMPT_COLOURS: Final = (BLACK, GREEN, PURPLE, ORANGE)

TITLES: Final = {
    "surface": "surface: where",
    "fft": "fft: how the problem is shown",
    "compression": "compression: how",
    "hazard": "hazard: when",
}


def lenses_picture(curves: pl.DataFrame, task: str, finding: str) -> Picture:
    """Four panels, a lens each, with a line a model.

    Parameters
    ----------
    curves
        As :func:`failbench.studies.reasoning_lenses.shown.pictured_curves` returns them.
    task
        Of which they are.
    finding
        The title.
    """
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


def naming_picture(rates: pl.DataFrame, chance: float) -> Picture:
    """How often the condition is named, by lens.

    Parameters
    ----------
    rates
        ``lenses``, ``classifier``, ``value``, ``ci_low``, ``ci_high`` and ``n``.
    chance
        What a random condition would reach.
    """
    primary = rates.filter(classifier=PRIMARY)
    best = primary.filter(pl.col("lenses") != ALL).sort("value", "lenses", descending=[True, False])
    together = primary.filter(lenses=ALL).row(0, named=True)
    return Picture(
        f"All four lenses name the condition of {percent(together['value'])} % of "
        f"{together['n']} models, {best['lenses'][0]} alone of {percent(best['value'][0])} %",
        "A row for each lens and one for all together, with the percent of models whose condition "
        "is named by three classifiers, seeds held out, and Wilson's intervals. A line marks "
        "chance.",
        HALF_WIDTH,
        NAMING_HEIGHT,
        partial(_draw_naming, rates, chance),
    )


def _draw_naming(rates: pl.DataFrame, chance: float, figure: Figure) -> None:
    axes = figure.subplots()
    rows = {name: name for name in SETS} | {ALL: "all four"}
    points = rates.rename({"lenses": "row", "classifier": "mark"})
    dot_plot(axes, points, rows, MARKS, heavy_above=(ALL,))
    axes.axvline(100 * chance, color=BLACK, linewidth=0.6, linestyle=":")
    axes.set_xlim(0, 104)
    axes.set_xlabel("conditions named rightly, percent\n(dotted: chance)")
    legend_outside(figure, [mark.handle for mark in MARKS.values()], columns=2)
