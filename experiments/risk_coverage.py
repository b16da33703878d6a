"""Stage risk_coverage: how wrong each method is on the runs that it is most confident of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
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


DRAWN = ("improved_rules", "random_forest", "hybrid_two_way", st.RECORDED_MODEL, "invariants")
"""A method of each kind that is confident; the points have all."""

MARKERS = (0.25, 0.5, 0.75, 1.0)
"""Coverages at which a curve has its method's marker."""


def draw(
    curves: pl.DataFrame, reported: dict[str, list[tuple[float, float]]], figure: Figure
) -> None:
    """A curve per method, and in its colour what is reported of it."""
    axes = figure.subplots()
    of_set = curves.filter(pl.col("method").is_in(DRAWN), feature_set=st.PRIMARY_SET)
    styles = st.method_styles(of_set["method"])
    for method, style in styles.items():
        points = of_set.filter(method=method).sort("coverage")
        draw_curve(axes, points, color=style.colour, linestyle=style.line, linewidth=st.THICK)
        nearest = [points.sort((pl.col("coverage") - at).abs()).head(1) for at in MARKERS]
        draw_curve(axes, pl.concat(nearest), linestyle="none", zorder=3, **style.look)
        for coverage, risk in reported.get(method, ()):
            printed = replace(st.REPORTED_LEVEL, colour=style.colour, size=12.0)
            axes.plot(100 * coverage, 100 * risk, zorder=4, clip_on=False, **printed.look)
    axes.set(xlim=(0, 102), ylim=(0, None))
    axes.set(xlabel="coverage: percent of runs answered, surest first")
    axes.set(ylabel="risk: percent of these wrong")
    handles = [style.line_handle for style in styles.values()]
    level = replace(st.REPORTED_LEVEL, label="reported by the original, in the method's colour")
    st.legend_outside(figure, [*handles, level, *st.marks_explained(styles)], columns=2)


def draw_curve(axes: Axes, points: pl.DataFrame, **look: Any) -> None:
    axes.plot(100 * points["coverage"].to_numpy(), 100 * points["risk"].to_numpy(), **look)


def main() -> None:
    settings = st.read_with_statistics("risk_coverage", RiskCoverageSettings)
    paper = st.read_reported()
    answers = confident(pl.concat([st.read_main_study(), st.read_recorded_model()]))
    curves = st.rounded(st.of_groups(answers, METHOD, partial(curve, settings.points)))
    said = st.Captions.read("risk_coverage", numbers(curves))
    picture = partial(draw, curves, printed(paper))
    st.publish_estimates(
        "risk_coverage",
        st.of_groups(answers, METHOD, partial(area, settings), st.workers()),
        (*METHOD, "metric"),
        points=curves,
        figures={"risk_coverage": said.picture("figure", 2.9, picture)},
    )


if __name__ == "__main__":
    st.run(main)
