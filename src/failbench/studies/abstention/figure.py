"""The figure of abstention: its reasons by category, and a sweep of the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.style import BLACK, BLUE, GREY, SKY, VERMILLION
from failbench.studies.abstention.results import ALL, CHOSEN, PER_FOLD, REASONS, THRESHOLDS
from failbench.studies.abstention.tables import REASON_LABELS, reported_shares
from failbench.vocabulary import Reason

WIDTH, HEIGHT = 6.9, 2.9
"""In inches: the width is that of two columns."""

FONT = 6.5
CHOSEN_HEIGHT = 1.06
"""Where, above the shares, the chosen thresholds are."""

NARROW = 0.08
"""Segments of a smaller share have no room for their number."""

REASON_COLOURS: Final[Mapping[Reason, str]] = {
    "low_confidence": SKY,
    "conflict": VERMILLION,
    "missing": GREY,
}
CURVES: Final = {
    "accuracy_when_committed": ("accuracy if committed", BLUE, "-"),
    "coverage": ("coverage", BLACK, "--"),
    "accuracy": ("accuracy", VERMILLION, ":"),
}
"""Label, colour and line of each quantity of the sweep."""


def draw_abstention(
    estimates: pl.DataFrame, paper: Reported, *, tau: float, target: float
) -> Figure:
    """Left why the rules abstain, right what they are worth at other thresholds.

    Parameters
    ----------
    estimates
        As :func:`failbench.studies.abstention.results.abstention_estimates` returns them.
    paper
        The numbers that the paper prints.
    tau
        The threshold of the study itself.
    target
        Share of right answers among the committed that was asked for.
    """
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    _draw_reasons(left, _reasons(estimates, paper))
    _draw_sweep(right, estimates, tau, target)
    return figure


def _reasons(estimates: pl.DataFrame, paper: Reported) -> list[tuple[str, dict[Reason, float]]]:
    """Label and shares of each bar from the top; a category without abstentions has none."""
    rate = reported_number(paper, "improved_rules_abstention")
    scenarios = reported_number(paper, "scenarios")
    bars = [(f"All, reported\n{rate * scenarios:.0f} of {scenarios:.0f}", reported_shares(paper))]
    rates = {
        (key, metric): (value, n)
        for key, metric, value, n in estimates.filter(pl.col("part") == REASONS)
        .select("key", "metric", "value", "n")
        .rows()
    }
    for key, label in ((ALL, "All, measured"), *CATEGORY_LABELS.items()):
        if (key, "share_conflict") in rates:
            share, n = rates[key, "abstention_rate"]
            shares = {reason: rates[key, f"share_{reason}"][0] for reason in REASON_LABELS}
            bars.append((f"{label}\n{share * n:.1f} of {n}", shares))
    return bars


def _draw_reasons(axes: Axes, bars: list[tuple[str, dict[Reason, float]]]) -> None:
    for row, (_, shares) in enumerate(bars):
        start = 0.0
        for reason, share in shares.items():
            label = REASON_LABELS[reason].lower() if row == 0 else None
            axes.barh(row, share, left=start, color=REASON_COLOURS[reason], label=label)
            if share >= NARROW:
                middle = start + share / 2
                text = f"{100 * share:.0f}"
                axes.text(middle, row, text, ha="center", va="center", fontsize=FONT)
            start += share
    axes.set_yticks(range(len(bars)), [label for label, _ in bars], fontsize=FONT)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the abstentions, of n scenarios", fontsize=FONT + 0.5)
    axes.set_title("Why the improved rules abstain", pad=16)
    _legend_above(axes)


def _legend_above(axes: Axes) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 0.985),
        ncols=3,
        fontsize=FONT,
        handlelength=1.5,
        columnspacing=0.8,
        borderaxespad=0.0,
    )


def _draw_sweep(axes: Axes, estimates: pl.DataFrame, tau: float, target: float) -> None:
    swept = estimates.filter(pl.col("part") == THRESHOLDS).with_columns(
        pl.col("key").cast(pl.Float64)
    )
    for metric, (label, colour, line) in CURVES.items():
        points = swept.filter(pl.col("metric") == metric).sort("key")
        taus, value, low, high = (
            points[name].to_numpy() for name in ("key", "value", "ci_low", "ci_high")
        )
        axes.fill_between(taus, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(taus, value, color=colour, linestyle=line, label=label)
    axes.axhline(target, color=GREY, linewidth=0.6)
    axes.text(0.0, target + 0.01, f"{100 * target:g} %", fontsize=FONT, color=BLACK)
    axes.axvline(tau, color=GREY, linewidth=0.6)
    axes.text(tau - 0.01, 0.01, f"tau {tau:g}", fontsize=FONT, ha="right")
    chosen = estimates.filter(
        pl.col("part") == CHOSEN, pl.col("key") == PER_FOLD, pl.col("metric") == "tau"
    )
    for median, low, high in chosen.select("value", "ci_low", "ci_high").rows():
        axes.errorbar(
            median,
            CHOSEN_HEIGHT,
            xerr=([median - low], [high - median]),
            color=BLACK,
            marker="o",
            markersize=3,
            capsize=2,
            elinewidth=0.8,
            linestyle="none",
        )
        text = f"folds choose for {100 * target:g} %: median and range"
        axes.text(1.0, CHOSEN_HEIGHT + 0.04, text, fontsize=FONT, ha="right")
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.2)
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.tick_params(labelsize=FONT)
    axes.set_xlabel("threshold of confidence, tau", fontsize=FONT + 0.5)
    sizes = sorted(set(swept["n"]))
    n = " / ".join(str(size) for size in sizes)
    axes.set_ylabel(f"share of n = {n} scenarios, or of the committed", fontsize=FONT + 0.5)
    axes.set_title("What another threshold is worth", pad=16)
    _legend_above(axes)
