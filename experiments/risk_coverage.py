"""Stage risk_coverage: how wrong each method is on the runs that it is most confident of."""

from __future__ import annotations

import math
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType
from pydantic import Field

from failbench import study as st

METHOD = ("feature_set", "method")
AREA = "area_under_risk_coverage"


class RiskCoverageSettings(st.BootstrapSettings):
    """How curves are drawn and resampled; the section ``risk_coverage`` of params.yaml."""

    points: int = Field(ge=10)


def confident(predictions: pl.DataFrame) -> pl.DataFrame:
    """Answers of methods whose answers, abstentions aside, differ in confidence."""
    committed = pl.col("confidence").filter(pl.col("prediction") != st.ABSTAIN)
    answers = predictions.filter(committed.n_unique().over(METHOD) > 1)
    if answers.is_empty():
        problem = "no method gives answers of different confidence."
        remedy = "Predict with a method that does."
        raise st.BadInputError("predictions", "confidence", problem, remedy)
    return answers


def curve(points: int, predictions: pl.DataFrame, **keys: object) -> pl.DataFrame:
    coverage = np.arange(1, points + 1) / points
    risk = st.risk_curve(st.rankings(predictions), coverage)
    return pl.DataFrame({**keys, "coverage": coverage, "risk": risk})


def area(settings: st.BootstrapSettings, predictions: pl.DataFrame, **keys: object) -> pl.DataFrame:
    return st.estimate_rows({AREA: st.area_interval(predictions, settings)}, **keys)


def numbers(curves: pl.DataFrame) -> dict[str, object]:
    """Of the blind method that is wrong least on the surest half: its risk there, and on all."""
    rows = curves.filter(st.is_of_blind(), feature_set=st.PRIMARY_SET)
    half = rows.filter((pl.col("coverage") - 0.5).abs() < 1e-6).sort("risk", "method")
    if half.is_empty():
        return {}
    best = half.row(0, named=True)
    whole = rows.filter(method=best["method"], coverage=1)
    return {
        "best": st.label_inside(best["method"]),
        "half_risk": best["risk"],
        "whole_risk": whole["risk"].item(),
    }


def printed(paper: st.Reported) -> dict[str, list[tuple[float, float]]]:
    """Coverage and risk: methods answer all, the improved rules also what they commit to."""
    points = {name: [(1.0, 1.0 - right)] for name, right in st.reported_accuracies(paper).items()}
    covered = 1.0 - st.reported_number(paper, "improved_rules_abstention")
    risk = 1.0 - st.reported_number(paper, "improved_rules_committed_accuracy")
    points["improved_rules"].insert(0, (covered, risk))
    return points


COLUMNS = 4
TITLE = 21
"""Letters that fit over a panel."""

MARKERS = (0.25, 0.5, 0.75, 1.0)
"""Coverages at which a curve has its method's marker."""

LINES: dict[str, LineStyleType] = dict(zip(st.FEATURE_SET_LABELS, ("-", ":"), strict=True))


def draw(
    curves: pl.DataFrame,
    styles: dict[str, st.MethodStyle],
    reported: dict[str, list[tuple[float, float]]],
    figure: Figure,
) -> None:
    """A panel per method, over the curves of all others in grey."""
    rows = math.ceil(len(styles) / COLUMNS)
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, (method, style) in zip(panels, styles.items(), strict=False):
        for other in styles:
            if other != method:
                points = curves.filter(feature_set=st.PRIMARY_SET, method=other)
                draw_curve(axes, points, color=st.PALE, linewidth=st.THIN)
        for feature_set, line in LINES.items():
            points = curves.filter(feature_set=feature_set, method=method).sort("coverage")
            draw_curve(axes, points, color=style.colour, linestyle=line, linewidth=st.THICK)
            if feature_set == st.PRIMARY_SET and points.height:
                nearest = [points.sort((pl.col("coverage") - at).abs()).head(1) for at in MARKERS]
                draw_curve(axes, pl.concat(nearest), linestyle="none", **style.look)
        for coverage, risk in reported.get(method, ()):
            axes.plot(100 * coverage, 100 * risk, **st.REPORTED_LEVEL.look, zorder=4)
        axes.set_title(fill(style.label, TITLE))
    for axes in panels[len(styles) :]:
        axes.set_axis_off()
    # panels above an empty one end their column, and so need its labels
    for axes in panels[len(styles) - COLUMNS : len(styles)]:
        axes.tick_params(axis="x", labelbottom=True)
    ticks = [0, 50, 100]
    panels[0].set(xlim=(0, 104), ylim=(0, 100), xticks=ticks, yticks=ticks)
    figure.supxlabel("coverage: percent of runs answered, surest first")
    figure.supylabel("risk: percent of them\nnot diagnosed right")
    handles: list[Line2D | st.Mark] = [
        Line2D([], [], color=st.BLACK, linestyle=line, label=f"features: {label}")
        for label, line in zip(st.FEATURE_SET_LABELS.values(), LINES.values(), strict=True)
    ]
    others = Line2D([], [], color=st.PALE, label="other methods")
    st.legend_outside(figure, [*handles, others, st.REPORTED_LEVEL], columns=4)


def draw_curve(axes: Axes, points: pl.DataFrame, **look: Any) -> None:
    axes.plot(100 * points["coverage"].to_numpy(), 100 * points["risk"].to_numpy(), **look)


def main() -> None:
    settings = st.read_with_statistics("risk_coverage", RiskCoverageSettings)
    paper = st.read_reported()
    answers = confident(pl.concat([st.read_main_study(), st.read_recorded_model()]))
    curves = st.rounded(st.of_groups(answers, METHOD, partial(curve, settings.points)))
    said = st.Captions.read("risk_coverage", numbers(curves))
    by_name = st.method_styles(curves["method"])
    order = sorted(by_name, key=lambda name: (st.reads_true_category(name), st.made_in_view(name)))
    styles = {method: by_name[method] for method in order}
    height = 0.55 + 1.05 * math.ceil(len(styles) / COLUMNS)
    picture = partial(draw, curves, styles, printed(paper))
    st.publish_estimates(
        "risk_coverage",
        st.of_groups(answers, METHOD, partial(area, settings), st.workers()),
        (*METHOD, "metric"),
        points=curves,
        figures={"risk_coverage": said.picture("figure", height, picture, methods=styles)},
    )


if __name__ == "__main__":
    st.run(main)
