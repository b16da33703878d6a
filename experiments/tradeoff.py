"""Stage tradeoff: accuracy against what a reader must check, beside what the original reports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import textalloc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench import study as st

METRICS = Path("data/metrics/intervals.json")

NUMBERS = ("accuracy", "conditions")
COLUMNS = pl.Schema(
    {
        "source": pl.String,  # measured or reported
        "method": pl.String,
        **{f"{name}{end}": pl.Float64 for name in NUMBERS for end in ("", "_low", "_high")},
        "score_low": pl.Float64,
        "score_high": pl.Float64,
        "n": pl.Int64,
    }
)
KINDS = {
    "rules": ("simple_rules", "improved_rules"),
    "tree": ("learned_rules", "decision_tree"),
    "sum": ("logistic_regression", "ebm", "raw_series", "raw_text", "raw_telemetry"),
    "forest": ("random_forest", "symptom_baseline"),
    "boosting": ("lightgbm",),
    "hybrid": ("hybrid_two_way",),
    "ending": ("ending",),
}
"""Methods by what a condition of theirs is; any other is a language model."""


def tradeoff(measured: st.Measured, paper: st.Reported) -> pl.DataFrame:
    """Each method's accuracy, and what a reader must check, of held-out methods alone.

    What breaks first among invariants is verified by all that take precedence over it, which nobody
    counts; and of what is handed the true category there is nothing to verify.
    """
    rows: list[dict[str, object]] = []
    for method, estimates in sorted(measured[st.PRIMARY_SET].items()):
        row = {"source": "measured", "method": method, "n": int(estimates["accuracy"]["n"])}
        rows.append(row | _bounded("accuracy", estimates["accuracy"]))
        if "conditions_to_read" in estimates and st.is_blind(method):
            rows[-1] |= _bounded("conditions", estimates["conditions_to_read"])
    for method, point in sorted(paper.figures.tradeoff.rows.items()):
        printed = paper.tables.methods.rows.get(method)
        low, high = (printed and printed.interval) or (None, None)
        accuracy = {"value": point.accuracy, "ci_low": low, "ci_high": high}
        scores = dict(zip(("score_low", "score_high"), point.interpretability, strict=True))
        row = {"source": "reported", "method": method}
        rows.append({**row, **_bounded("accuracy", accuracy), **scores})
    return st.rounded(pl.DataFrame(rows, schema=COLUMNS))


def _bounded(name: str, estimate: Mapping[str, float | None]) -> dict[str, object]:
    ends = {"": "value", "_low": "ci_low", "_high": "ci_high"}
    return {f"{name}{end}": estimate[key] for end, key in ends.items()}


def best_first(points: pl.DataFrame) -> pl.DataFrame:
    return points.filter(source="measured").sort("accuracy", "method", descending=[True, False])


def numbers(points: pl.DataFrame) -> dict[str, object]:
    """The most accurate held-out method, and the most accurate with a tenth of its conditions."""
    counted = best_first(points).drop_nulls("conditions")
    best = counted.row(0, named=True)
    fewer = counted.filter(pl.col("conditions") <= best["conditions"] / 10).head(1).to_dicts()
    named = {"best": best} | ({"short": fewer[0]} if fewer else {})
    return {
        "held_out": counted.height,
        "n": points["n"].max(),
        **{name: row | {"method": st.label_inside(row["method"])} for name, row in named.items()},
    }


def definitions(points: pl.DataFrame, said: st.Captions) -> st.Table:
    """What a condition is, kind of method by kind of method, with their mean conditions."""
    counts = dict(points.filter(source="measured").select("method", "conditions").iter_rows())
    kinds: dict[str, list[str]] = {}
    for method in st.in_label_order(counts):
        count = "" if counts[method] is None else f" ({st.written(counts[method], 'one')})"
        kinds.setdefault(kind_of(method), []).append(st.method_label(method) + count)
    body = [("; ".join(methods), said.text("kinds", kind)) for kind, methods in kinds.items()]
    return st.sheet("tradeoff", body, said)


def kind_of(method: str) -> str:
    if st.reads_true_category(method):
        return "handed"
    if st.made_in_view(method):
        return "in_view"
    return next((kind for kind, methods in KINDS.items() if method in methods), "language_model")


HELD_OUT = st.Mark("held out", st.BLUE, "o")
DEVELOPMENT = st.Mark("development (in-sample)", st.BLUE, "o", fill="none")
HANDED = st.Mark("handed the true category", st.BLUE, "s", fill="none")
REPORTED = st.Mark("reported by the original, at our count", st.VERMILLION, "D")
"""A colour and a fill say what a score is; names stand beside the marks."""


def draw(points: pl.DataFrame, figure: Figure) -> None:
    """Accuracy by conditions to read, and apart those of which no conditions are counted."""
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.6, 1))
    measured = best_first(points)
    counted = measured.drop_nulls("conditions")
    ends = counted.select("conditions_low", "conditions_high").to_numpy()
    left.set(
        xlabel="conditions to read for one answer",
        ylabel="category of five right, percent",
        xscale="log",
        xlim=(float(ends.min()) / 2, 3 * float(ends.max())),
        ylim=(100 * measured["accuracy_low"].to_numpy().min() - 5, 100),
    )
    left.xaxis.set_major_formatter("{x:,g}")
    right.set_xlabel("conditions not counted")
    right.set_xticks([])
    marks = (HELD_OUT, REPORTED, DEVELOPMENT, HANDED)
    st.legend_outside(figure, marks, columns=2)
    # labels are placed where the axes stand, so these must not move any more
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    reported = points.filter(source="reported").select("method", reported="accuracy")
    draw_counted(left, counted.join(reported, on="method", how="left", maintain_order="left"))
    draw_apart(right, measured.filter(pl.col("conditions").is_null()))


def draw_point(axes: Axes, x: float, row: Mapping[str, Any], mark: st.Mark) -> st.Array:
    """A mark, and its interval in percent, which is returned."""
    ends = 100 * np.array([row["accuracy_low"], row["accuracy_high"]])
    axes.plot([x, x], ends, color=mark.colour, linewidth=0.8, zorder=2)
    axes.plot([x], [100 * row["accuracy"]], zorder=4, **mark.look)
    return ends


def draw_apart(axes: Axes, methods: pl.DataFrame) -> None:
    """Those that are handed the true category last, with their names below."""
    rows = sorted(methods.to_dicts(), key=lambda row: st.reads_true_category(row["method"]))
    for x, row in enumerate(rows):
        draw_point(axes, x, row, HANDED if st.reads_true_category(row["method"]) else DEVELOPMENT)
        bottom = axes.get_ylim()[0] + 1
        axes.text(x, bottom, st.method_label(row["method"]), rotation=90, ha="center", va="bottom")
    axes.set_xlim(-0.6, len(rows) - 0.4)


def draw_counted(axes: Axes, methods: pl.DataFrame) -> None:
    """Every method with its interval and what is reported, and then labels clear of all of it."""
    rows = methods.to_dicts()
    x = [row["conditions"] for row in rows]
    y = [100 * row["accuracy"] for row in rows]
    lines = [draw_point(axes, at, row, HELD_OUT) for at, row in zip(x, rows, strict=True)]
    printed = methods.drop_nulls("reported").select("conditions", "accuracy", "reported").rows()
    for at, of, value in printed:
        ends = [100 * of, 100 * value]
        axes.plot([at, at], ends, color=st.GREY, linewidth=st.THIN, linestyle=":", zorder=1)
        axes.plot([at], [100 * value], zorder=3, **REPORTED.look)
    textalloc.allocate(
        axes,
        x,
        y,
        [st.method_label(row["method"]) for row in rows],
        x_scatter=[*x, *(at for at, _, _ in printed)],
        y_scatter=[*y, *(100 * value for _, _, value in printed)],
        x_lines=[np.array([at, at]) for at in x],
        y_lines=[*lines],
        textsize=st.LEAST_TEXT,
        linecolor=st.GREY,
        linewidth=0.6,  # from a label to its mark
        nbr_candidates=800,
        min_distance=0.012,
        max_distance=0.35,
        margin=0.004,
        avoid_label_lines_overlap=True,
        avoid_crossing_label_lines=True,
    )


def main() -> None:
    points = tradeoff(st.read_metrics(METRICS, st.PRIMARY_SET), st.read_reported())
    said = st.Captions.read("tradeoff", numbers(points))
    st.publish(
        "tradeoff",
        points=points,
        tables=[definitions(points, said)],
        figures={"tradeoff": said.picture("figure", 3.5, partial(draw, points))},
        summary=points.select("source", "method", *NUMBERS, "score_low", "score_high"),
    )


if __name__ == "__main__":
    st.run(main)
