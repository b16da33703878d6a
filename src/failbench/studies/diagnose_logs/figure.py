"""The figure of the study of logs: how many answers are wrong, by how many are given."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, GREY, VERMILLION, Mark
from failbench.studies.diagnose_logs.results import CATEGORY, WHOLE, surest_words
from failbench.studies.diagnose_logs.shown import COMPLETE, MODEL_LABELS
from failbench.vocabulary import CATEGORIES

HEIGHT: Final = 2.9
"""Inches."""

_LOOKS: Final = {
    "log": Mark(MODEL_LABELS["log"], GREY, "v"),
    COMPLETE: Mark(MODEL_LABELS[COMPLETE], VERMILLION, "s"),
    "monitor": Mark(MODEL_LABELS["monitor"], BLACK, "D"),
    "monitor_bounds": Mark(MODEL_LABELS["monitor_bounds"], BLUE, "o"),
}


def logs_picture(risks: pl.DataFrame, rates: pl.DataFrame, coverage: float) -> Picture:
    """Left the share of wrong answers by the share that is given, right accuracy by category."""
    return Picture(
        f"{_finding(rates)}; {surest_words(risks)}",
        "On the left, a line for each kind of log: the share of wrong categories among the surest "
        "answers, over the share of logs that are answered. On the right, a row for each category "
        "of the cause, with the accuracy for each kind of log and its interval.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, risks, rates, coverage),
    )


def _finding(rates: pl.DataFrame) -> str:
    whole = rates.filter(part=WHOLE, metric="accuracy")
    value = dict(whole.select("model", "value").iter_rows())
    (row,) = whole.filter(model="log").to_dicts()
    words = {
        "log": "any log",
        "monitor_bounds": "the monitor's with bounds of healthy runs",
    }
    parts = [f"{words[model]} in {percent(value[model])} %" for model in words if model in value]
    return f"The category of five is right from {' and '.join(parts)} ({row['n']} scenarios)"


def _draw(risks: pl.DataFrame, rates: pl.DataFrame, coverage: float, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    looks = {name: look for name, look in _LOOKS.items() if name in set(risks["model"])}
    for name, look in looks.items():
        of_model = risks.filter(model=name)
        left.plot(of_model["answered"], of_model["risk"], color=look.colour, linewidth=1.2)
        at = of_model.filter((pl.col("coverage") - coverage).abs() < 1e-9)
        left.plot(
            at["answered"], at["risk"], color=look.colour, marker=look.marker, linestyle="none"
        )
    left.set_xlim(0, 1.02)
    left.set_ylim(0, None)
    left.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    left.set_xlabel("percent of logs answered, the surest first")
    left.set_ylabel("percent of these wrong")
    by_category = rates.filter(part=CATEGORY, metric="accuracy").with_columns(
        row=pl.col("name"), mark=pl.col("model")
    )
    dot_plot(right, by_category, {name: CATEGORY_LABELS[name] for name in CATEGORIES}, looks)
    right.set_xlim(0, 102)
    right.set_xlabel("accuracy of the category in percent")
    legend_outside(figure, [look.handle for look in looks.values()], columns=4)
