"""Stage per_category: precision, recall and F1 of every method by category, and its confusions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench import study as st

MEASURED = Path("data/metrics/intervals.json")

METHOD = ("feature_set", "method")
RULES = "improved_rules"
"""The method whose confusions the paper's Table 5 counts."""

BOTH = "unknown_or_abstain"
"""The label ``unknown`` and abstentions together, which that table does not tell apart."""

COLUMNS = 3
"""Of maps in the figure."""


def precisions(
    settings: st.ScenarioIntervalSettings, predictions: pl.DataFrame, **keys: object
) -> pl.DataFrame:
    """Shares of right answers among those that name a category, mean over repeats that name it."""
    named = set(predictions["prediction"])
    categories = st.scenario_answers(predictions).categories
    metrics = st.precision_metrics(tuple(category for category in categories if category in named))
    return st.of_scenarios(predictions, metrics, settings, (), **keys)


def confusions(predictions: pl.DataFrame, **keys: object) -> pl.DataFrame:
    """How many scenarios of each category get each answer, mean over repeats, and their share."""
    answers = st.scenario_answers(predictions)
    counts = answers.confusion().mean(axis=0).tolist()
    rows: list[dict[str, Any]] = []
    for category, size, row in zip(answers.categories, answers.sizes, counts, strict=True):
        given = dict(zip(st.ANSWERS, row, strict=True))
        given[BOTH] = given["unknown"] + given[st.ABSTAIN]
        rows += [
            {**keys, "category": category, "answer": answer, "scenarios": n, "share": n / size}
            for answer, n in given.items()
        ]
    return pl.DataFrame(rows)


def scores_of(measured: st.Measured, precision: pl.DataFrame, paper: st.Reported) -> st.Estimates:
    """Precision, recall and F1 by method and category, the paper's among them."""
    rows = [
        {"method": method, "metric": metric, **estimate}
        for method, estimates in measured[st.PRIMARY_SET].items()
        for metric, estimate in estimates.items()
    ]
    score_of = r"^(precision|recall|f1)_(.+)$"
    scores = (
        pl.concat(
            [pl.DataFrame(rows), precision.filter(feature_set=st.PRIMARY_SET)], how="diagonal"
        )
        .filter(pl.col("metric").str.contains(score_of))
        .with_columns(
            metric=pl.col("metric").str.extract(score_of, 1),
            category=pl.col("metric").str.extract(score_of, 2),
        )
    )
    printed: list[dict[str, Any]] = []
    for category, row in paper.tables.per_category.rows.items():
        keys = {"method": "reported", "category": category}
        printed += st.reported(keys=keys, precision=row.precision, recall=row.recall)
        low, high = row.interval
        printed.append({**keys, "metric": "f1", "value": row.f1, "ci_low": low, "ci_high": high})
    return st.Estimates.of(scores).plus(*printed)


def counts_of(confused: pl.DataFrame, scores: st.Estimates, paper: st.Reported) -> st.Estimates:
    """Confusions and recall of the rules by category, reported and measured; answers as metrics."""
    rows: list[dict[str, Any]] = []
    for category, counts in paper.tables.confusion.rows.items():
        keys = {"source": "reported", "category": category}
        recall = counts[st.CATEGORIES.index(category)] / sum(counts)
        answers = dict(zip((*st.CATEGORIES[:-1], BOTH), counts, strict=True))
        rows += st.reported(keys=keys, recall=recall, **answers)
    measured = confused.filter(method=RULES, feature_set=st.PRIMARY_SET)
    recalls = scores.where(method=RULES, metric="recall").frame.drop("method")
    return st.Estimates.of(
        measured.select("category", metric="answer", value="scenarios", source=pl.lit("measured")),
        recalls.with_columns(source=pl.lit("measured")),
    ).plus(*rows)


def numbers(drawn: pl.DataFrame, scores: st.Estimates, paper: st.Reported) -> dict[str, object]:
    """What the paper's counts add up to; the categories told best and worst by blind methods."""
    counts = paper.tables.confusion.rows
    cases = sum(map(sum, counts.values()))
    right = sum(counts[category][place] for place, category in enumerate(st.CATEGORIES))
    blind = drawn.filter(st.is_of_blind())
    recalls = (
        blind.filter(pl.col("category") == pl.col("answer"))
        .group_by("category")
        .agg(pl.col("share").sum() / blind["method"].n_unique())
        .sort("share", "category")
    )
    (worst, lowest), (best, highest) = recalls.row(0), recalls.row(-1)
    of_rules = scores.where(method=RULES, metric="recall")
    return {
        "sizes": {each: of_rules.n(category=each) for each in st.CATEGORIES},
        "right": right,
        "cases": cases,
        "accuracy": right / cases,
        "both": sum(row[-1] for row in counts.values()),
        "claimed": st.reported_number(paper, "improved_rules_accuracy") * cases,
        "abstained": st.reported_number(paper, "improved_rules_abstention") * cases,
        "best": st.CATEGORY_LABELS[best],
        "highest": highest,
        "worst": st.CATEGORY_LABELS[worst].lower(),
        "lowest": lowest,
    }


def tables(scores: st.Estimates, counts: st.Estimates, said: st.Captions) -> Iterator[st.Table]:
    """Scores of all methods, and confusions of the rules."""
    methods = st.in_label_order(set(scores.distinct("method")) - {"reported"})
    labels = {"reported": "Classifiers, reported"} | {m: st.method_label(m) for m in methods}
    body = [
        st.Row(
            (score.capitalize(), label),
            {"metric": score, "method": method},
            show="interval, n" if score == "precision" else "interval",
        )
        for score, (method, label) in product(("precision", "recall", "f1"), labels.items())
    ]
    notes = st.development_note(methods)
    yield st.table("per_category", scores, None, body, said, *notes)
    body = st.rows("category", dict(st.CATEGORY_LABELS))
    yield st.table("confusion", counts, None, body, said)


DRAWN = ("simple_rules", RULES, "random_forest", "hybrid_two_way", "invariants")
"""A method of each kind; the points have all."""


def picture(drawn: pl.DataFrame, paper: st.Reported, said: st.Captions) -> st.Picture:
    """A map of confusions for a method of each kind, and what is reported of the rules."""
    methods = [method for method in DRAWN if method in set(drawn["method"])]
    maps = [(st.drawn_label(method), drawn.filter(method=method)) for method in methods]
    printed = [
        (category, answer, float(n), n / sum(counts))
        for category, counts in paper.tables.confusion.rows.items()
        for answer, n in zip(st.CATEGORIES, counts, strict=True)
    ]
    of_paper = pl.DataFrame(printed, ["category", "answer", "scenarios", "share"], orient="row")
    maps.insert(1, (f"{st.method_label(RULES)}, reported", of_paper))
    height = 0.85 + 0.95 * math.ceil(len(maps) / COLUMNS)
    return said.picture("figure", height, partial(draw, maps))


def draw(maps: list[tuple[str, pl.DataFrame]], figure: Figure) -> None:
    panels = figure.subplots(math.ceil(len(maps) / COLUMNS), COLUMNS, squeeze=False).ravel()
    for axes in panels[len(maps) :]:
        axes.set_axis_off()
    for place, (axes, (title, confused)) in enumerate(zip(panels, maps, strict=False)):
        draw_map(axes, confused)
        axes.set_title(title)
        if place % COLUMNS:
            axes.set_yticklabels([])
        if place + COLUMNS < len(maps):
            axes.set_xticklabels([])
    figure.supxlabel("answer, percent of the category (as reported, unknown includes abstentions)")
    st.legend_outside(figure, st.marks_explained(DRAWN), columns=1)
    figure.supylabel("actual category (n scenarios)")


def draw_map(axes: Axes, confused: pl.DataFrame) -> None:
    """Rows are categories, columns answers, empty below one half percent; a frame is right."""
    shares = {row[:2]: row[2] for row in confused.select("category", "answer", "share").rows()}
    sizes = dict(confused.group_by("category").agg(pl.col("scenarios").sum()).iter_rows())
    matrix = np.array(
        [[shares.get((row, each), 0.0) for each in st.ANSWERS] for row in st.CATEGORIES]
    )
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap="Blues",
        vmin=0.0,
        vmax=1.0,
        cbar=False,
        linewidths=0.5,
        linecolor="white",
        xticklabels=[*st.SHORT_LABELS.values(), "abstain"],
        yticklabels=[f"{label} ({round(sizes[row])})" for row, label in st.SHORT_LABELS.items()],
    )
    for (row, column), share in np.ndenumerate(matrix):
        text = f"{100 * share:.0f}" if share >= 0.005 else ""
        colour = "white" if share >= 0.55 else st.BLACK
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)
    for place in range(len(st.CATEGORIES)):
        frame = Rectangle((place, place), 1, 1, fill=False, edgecolor=st.BLACK, linewidth=0.7)
        axes.add_patch(frame)
    axes.axvline(len(st.CATEGORIES), color=st.BLACK, linewidth=0.5)
    axes.tick_params(length=0, rotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    paper, predictions = st.read_reported(), st.read_main_study()
    precision = st.of_groups(predictions, METHOD, partial(precisions, settings), st.workers())
    confused = st.rounded(st.of_groups(predictions, METHOD, confusions))
    scores = scores_of(st.read_metrics(MEASURED, st.PRIMARY_SET), precision, paper)
    drawn = confused.filter(
        pl.col("feature_set") == st.PRIMARY_SET, pl.col("answer").is_in(list(st.ANSWERS))
    )
    said = st.Captions.read("per_category", settings, paper, numbers(drawn, scores, paper))
    st.publish_estimates(
        "per_category",
        precision,
        (*METHOD, "metric"),
        points=confused,
        tables=tables(scores, counts_of(confused, scores, paper), said),
        figures={"per_category": picture(drawn, paper, said)},
    )


if __name__ == "__main__":
    st.run(main)
