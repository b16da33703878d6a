"""The figure of agreement: a map with a row and a column per method."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.labels import in_label_order, method_label

WIDTH, HEIGHT = 5.5, 4.6
"""Inches."""


def draw_agreement(points: pl.DataFrame) -> Figure:
    """Agreement of every two methods, from the published points.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    methods = in_label_order([*points["left"], *points["right"]])
    labels = [method_label(method) for method in methods]
    shares = {(left, right): value for left, right, value, _ in points.iter_rows()}
    shares |= {(right, left): value for (left, right), value in shares.items()}
    cells = [[shares.get((row, column), 1.0) for column in methods] for row in methods]
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.pcolormesh(cells, vmin=0.0, vmax=1.0, cmap="Greys")
    places = [place + 0.5 for place in range(len(methods))]
    axes.set_xticks(places, labels, rotation=90)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    return figure
