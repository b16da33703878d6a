"""The figure of abstention: its reasons by category, and a sweep of the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.typing import LineStyleType

from failbench.reporting.cells import percent
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, GREEN, GREY, SKY, VERMILLION
from failbench.studies.abstention.results import ALL, CHOSEN, PER_FOLD, REASONS, THRESHOLDS
from failbench.studies.abstention.tables import REASON_LABELS, reported_shares
from failbench.vocabulary import Reason

HEIGHT: Final = 2.9
"""Inches."""

CHOSEN_HEIGHT: Final = 106.0
"""Where, above the shares, the chosen thresholds are."""

TOP: Final = 120.0
"""Of the axis of shares, which leaves room for these thresholds."""

NARROW: Final = 0.08
"""Segments of a smaller share have no room for their number."""

REASON_COLOURS: Final[Mapping[Reason, str]] = {
    "low_confidence": SKY,
    "conflict": VERMILLION,
    "missing": GREY,
}
CURVES: Final[dict[str, tuple[str, str, LineStyleType]]] = {
    "accuracy_when_committed": ("right if committed", BLUE, "-"),
    "coverage": ("committed", BLACK, "--"),
    "accuracy": ("right", GREEN, ":"),
}
"""Label, colour and line of each quantity of the sweep."""

Bar = tuple[str, dict[Reason, float]]
"""Label and shares."""


def abstention_picture(
    estimates: pl.DataFrame, paper: Reported, *, tau: float, target: float
) -> Picture:
    """Left why the rules abstain, right what they are worth at other thresholds."""
    bars = _reasons(estimates, paper)
    return Picture(
        _finding(estimates, paper),
        "On the left, bars of the reasons for which the improved rules abstain, as shares: as the "
        "paper reports them, over all scenarios, and by category. On the right, lines over the "
        "threshold of confidence: share right among the committed, share committed, and share "
        "right of all, with bands for their intervals.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, bars, estimates, tau, target),
    )


def _finding(estimates: pl.DataFrame, paper: Reported) -> str:
    of_all = dict(
        estimates.filter(pl.col("part") == REASONS, pl.col("key") == ALL)
        .select("metric", "value")
        .iter_rows()
    )
    reported = percent(reported_number(paper, "improved_rules_abstention"))
    abstained = (
        f"The improved rules abstain on {percent(of_all['abstention_rate'])} % of scenarios "
        f"(reported: {reported} %)"
    )
    shares = {reason: of_all.get(f"share_{reason}") for reason in REASON_LABELS}
    measured = {reason: share for reason, share in shares.items() if share is not None}
    if not measured:
        return abstained
    most = max(measured, key=lambda reason: measured[reason])
    return (
        f"{abstained}, most often for {REASON_LABELS[most].lower()} ({percent(measured[most])} %)"
    )


def _draw(
    bars: list[Bar], estimates: pl.DataFrame, tau: float, target: float, figure: Figure
) -> None:
    left, right = figure.subplots(1, 2)
    _draw_reasons(left, bars)
    _draw_sweep(right, estimates, tau, target)
    legend_outside(
        figure,
        [
            *(
                Patch(color=REASON_COLOURS[reason], label=label.lower())
                for reason, label in REASON_LABELS.items()
            ),
            *(
                Line2D([], [], color=colour, linestyle=line, label=label)
                for label, colour, line in CURVES.values()
            ),
        ],
        columns=6,
        handlelength=1.6,
        columnspacing=0.9,
    )


def _reasons(estimates: pl.DataFrame, paper: Reported) -> list[Bar]:
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


def _draw_reasons(axes: Axes, bars: list[Bar]) -> None:
    for row, (_, shares) in enumerate(bars):
        start = 0.0
        for reason, share in shares.items():
            axes.barh(row, 100 * share, left=100 * start, color=REASON_COLOURS[reason])
            if share >= NARROW:
                middle = 100 * (start + share / 2)
                axes.text(middle, row, f"{100 * share:.0f}", ha="center", va="center")
            start += share
    axes.set_yticks(range(len(bars)), [label for label, _ in bars])
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent of the abstentions (of n scenarios)")
    axes.set_title("why the improved rules abstain")


def _draw_sweep(axes: Axes, estimates: pl.DataFrame, tau: float, target: float) -> None:
    swept = estimates.filter(pl.col("part") == THRESHOLDS).with_columns(
        pl.col("key").cast(pl.Float64)
    )
    for metric, (_, colour, line) in CURVES.items():
        points = swept.filter(pl.col("metric") == metric).sort("key")
        taus = points["key"].to_numpy()
        value, low, high = (
            100 * points[name].to_numpy() for name in ("value", "ci_low", "ci_high")
        )
        axes.fill_between(taus, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(taus, value, color=colour, linestyle=line)
    axes.axhline(100 * target, color=GREY, linewidth=0.6)
    axes.text(0.0, 100 * target + 1, f"{100 * target:g} %")
    axes.axvline(tau, ymax=100 / TOP, color=GREY, linewidth=0.6)
    axes.text(tau - 0.01, 1, f"tau {tau:g}", ha="right")
    chosen = estimates.filter(
        pl.col("part") == CHOSEN, pl.col("key") == PER_FOLD, pl.col("metric") == "tau"
    )
    for median, low, high in chosen.select("value", "ci_low", "ci_high").rows():
        axes.errorbar(
            median,
            CHOSEN_HEIGHT,
            xerr=([median - low], [high - median]),
            color=BLACK,
            marker="|",
            markersize=6,
            capsize=2,
            elinewidth=0.8,
            linestyle="none",
        )
        text = f"chosen for {100 * target:g} %: median, range"
        axes.text(1.0, CHOSEN_HEIGHT + 4, text, ha="right")
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, TOP)
    axes.set_yticks([0, 20, 40, 60, 80, 100])
    axes.set_xlabel("threshold of confidence, tau")
    n = " / ".join(str(size) for size in sorted(set(swept["n"])))
    axes.set_ylabel(f"percent of n = {n} scenarios")
    axes.set_title("what another threshold is worth")
