"""Stage per_category: precision, recall and F1 of every method by category, and its confusions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench.base.stage import workers
from failbench.base.vocabulary import ABSTAIN, ANSWERS, CATEGORIES, PRIMARY_SET
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.metrics import precision_metrics
from failbench.statistics.scenario_values import scenario_answers
from failbench.statistics.settings import read_statistics
from failbench.study.captions import Captions
from failbench.study.cells import Measured
from failbench.study.estimates import Estimates, of_groups, of_scenarios, reported, rounded
from failbench.study.inputs import read_main_study, read_metrics, read_reported
from failbench.study.labels import (
    CATEGORY_LABELS,
    SHORT_LABELS,
    development_note,
    drawn_label,
    in_label_order,
    is_blind,
    method_label,
)
from failbench.study.paper_numbers import Reported, reported_number
from failbench.study.picture import Picture
from failbench.study.plain_table import Table
from failbench.study.publication import publish_estimates, run
from failbench.study.style import BLACK
from failbench.study.tables import Of, Row, Text, n_of, table

MEASURED = Path("data/metrics/intervals.json")

METHOD = ("feature_set", "method")
RULES = "improved_rules"
"""The method whose confusions the paper's Table 5 counts."""

BOTH = "unknown_or_abstain"
"""The label ``unknown`` and abstentions together, which that table does not tell apart."""

SCORES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLUMNS = 3
"""Of maps in the figure."""


def precisions(
    settings: ScenarioIntervalSettings, predictions: pl.DataFrame, **keys: object
) -> pl.DataFrame:
    """The share of right answers among the scenarios that each category is named for.

    Its mean over the repeats that name the category at all; one that is never named has none.
    """
    named = set(predictions["prediction"])
    categories = scenario_answers(predictions).categories
    metrics = precision_metrics(tuple(category for category in categories if category in named))
    return of_scenarios(predictions, metrics, settings, (), **keys)


def confusions(predictions: pl.DataFrame, **keys: object) -> pl.DataFrame:
    """How many scenarios of each category get each answer, mean over repeats, and their share."""
    answers = scenario_answers(predictions)
    counts = answers.confusion().mean(axis=0).tolist()
    rows: list[dict[str, Any]] = []
    for category, size, row in zip(answers.categories, answers.sizes, counts, strict=True):
        given = dict(zip(ANSWERS, row, strict=True))
        given[BOTH] = given["unknown"] + given[ABSTAIN]
        rows += [
            {**keys, "category": category, "answer": answer, "scenarios": n, "share": n / size}
            for answer, n in given.items()
        ]
    return pl.DataFrame(rows)


def scores_of(measured: Measured, precision: pl.DataFrame, paper: Reported) -> Estimates:
    """Precision, recall and F1 by method and category, the paper's among them."""
    rows = [
        {"method": method, "metric": metric, **estimate}
        for method, estimates in measured[PRIMARY_SET].items()
        for metric, estimate in estimates.items()
    ]
    score_of = r"^(precision|recall|f1)_(.+)$"
    scores = (
        pl.concat([pl.DataFrame(rows), precision.filter(feature_set=PRIMARY_SET)], how="diagonal")
        .filter(pl.col("metric").str.contains(score_of))
        .with_columns(
            metric=pl.col("metric").str.extract(score_of, 1),
            category=pl.col("metric").str.extract(score_of, 2),
        )
    )
    printed: list[dict[str, Any]] = []
    for category, row in paper.tables.per_category.rows.items():
        keys = {"method": "reported", "category": category}
        printed += reported(keys=keys, precision=row.precision, recall=row.recall)
        low, high = row.interval
        printed.append({**keys, "metric": "f1", "value": row.f1, "ci_low": low, "ci_high": high})
    return Estimates.of(scores).plus(*printed)


def counts_of(confused: pl.DataFrame, scores: Estimates, paper: Reported) -> Estimates:
    """Confusions and recall of the rules by category, reported and measured; answers as metrics."""
    rows: list[dict[str, Any]] = []
    for category, counts in paper.tables.confusion.rows.items():
        keys = {"source": "reported", "category": category}
        recall = counts[CATEGORIES.index(category)] / sum(counts)
        answers = dict(zip((*CATEGORIES[:-1], BOTH), counts, strict=True))
        rows += reported(keys=keys, recall=recall, **answers)
    measured = confused.filter(method=RULES, feature_set=PRIMARY_SET)
    recalls = scores.where(method=RULES, metric="recall").frame.drop("method")
    return Estimates.of(
        measured.select("category", metric="answer", value="scenarios", source=pl.lit("measured")),
        recalls.with_columns(source=pl.lit("measured")),
    ).plus(*rows)


def numbers(drawn: pl.DataFrame, paper: Reported) -> dict[str, object]:
    """What the paper's counts add up to; the categories told best and worst by blind methods."""
    counts = paper.tables.confusion.rows
    cases = sum(map(sum, counts.values()))
    right = sum(counts[category][place] for place, category in enumerate(CATEGORIES))
    blind = drawn.filter(pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean))
    recalls = (
        blind.filter(pl.col("category") == pl.col("answer"))
        .group_by("category")
        .agg(pl.col("share").sum() / blind["method"].n_unique())
        .sort("share", "category")
    )
    (worst, lowest), (best, highest) = recalls.row(0), recalls.row(-1)
    return {
        "right": right,
        "cases": cases,
        "accuracy": right / cases,
        "both": sum(row[-1] for row in counts.values()),
        "claimed": reported_number(paper, "improved_rules_accuracy") * cases,
        "abstained": reported_number(paper, "improved_rules_abstention") * cases,
        "best": CATEGORY_LABELS[best],
        "highest": highest,
        "worst": CATEGORY_LABELS[worst].lower(),
        "lowest": lowest,
    }


def tables(scores: Estimates, counts: Estimates, said: Captions) -> Iterator[Table]:
    """Scores of all methods, and confusions of the rules."""
    methods = in_label_order(set(scores.distinct("method")) - {"reported"})
    labels = {"reported": "Classifiers, reported", **{each: method_label(each) for each in methods}}
    sizes = {each: scores.n(method=RULES, metric="recall", category=each) for each in CATEGORIES}
    yield table(
        "per_category",
        scores,
        [
            Text("Score"),
            Text("Method"),
            *(
                Of("", f"{CATEGORY_LABELS[category]} (n = {n})", keys={"category": category})
                for category, n in sizes.items()
            ),
        ],
        [
            Row(
                (heading, label),
                {"metric": score, "method": method},
                show="interval, n" if score == "precision" else "interval",
            )
            for score, heading in SCORES.items()
            for method, label in labels.items()
        ],
        said,
        *development_note(methods),
    )
    printed, measured = {"source": "reported"}, {"source": "measured"}
    answers = {**SHORT_LABELS} | {ABSTAIN: "abstained", BOTH: "both"}
    yield table(
        "confusion",
        counts,
        [
            Text("Actual"),
            *(
                Of(answer, answers[answer], "reported", "count", printed)
                for answer in (*CATEGORIES[:-1], BOTH)
            ),
            Of("recall", "recall", "reported", keys=printed),
            *(Of(answer, label, "measured", "one", measured) for answer, label in answers.items()),
            Of("recall", "recall", "measured", keys=measured),
            n_of("recall", group="measured", **measured),
        ],
        [Row((label,), {"category": category}) for category, label in CATEGORY_LABELS.items()],
        said,
    )


def picture(drawn: pl.DataFrame, paper: Reported, said: Captions) -> Picture:
    """A map of confusions for each method, and the paper's beside those of the same rules."""
    methods = in_label_order(drawn["method"])
    maps = [(drawn_label(method), drawn.filter(method=method)) for method in methods]
    printed = [
        (category, answer, float(n), n / sum(counts))
        for category, counts in paper.tables.confusion.rows.items()
        for answer, n in zip(CATEGORIES, counts, strict=True)
    ]
    of_paper = pl.DataFrame(printed, ["category", "answer", "scenarios", "share"], orient="row")
    maps.insert(methods.index(RULES) + 1, (f"{method_label(RULES)}, reported", of_paper))
    height = 0.85 + 0.95 * math.ceil(len(maps) / COLUMNS)
    return said.picture("figure", height, partial(draw, maps), methods=methods)


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
    figure.supxlabel("answer (as reported, unknown includes abstentions)")
    figure.supylabel("actual category (n scenarios); cells: percent of it")


def draw_map(axes: Axes, confused: pl.DataFrame) -> None:
    """Rows are categories, columns answers, empty below one half percent; a frame is right."""
    shares = {row[:2]: row[2] for row in confused.select("category", "answer", "share").rows()}
    sizes = dict(confused.group_by("category").agg(pl.col("scenarios").sum()).iter_rows())
    matrix = np.array([[shares.get((row, each), 0.0) for each in ANSWERS] for row in CATEGORIES])
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap="Blues",
        vmin=0.0,
        vmax=1.0,
        cbar=False,
        linewidths=0.5,
        linecolor="white",
        xticklabels=[*SHORT_LABELS.values(), "abstain"],
        yticklabels=[f"{label} ({round(sizes[row])})" for row, label in SHORT_LABELS.items()],
    )
    for (row, column), share in np.ndenumerate(matrix):
        text = f"{100 * share:.0f}" if share >= 0.005 else ""
        colour = "white" if share >= 0.55 else BLACK
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)
    for place in range(len(CATEGORIES)):
        frame = Rectangle((place, place), 1, 1, fill=False, edgecolor=BLACK, linewidth=0.7)
        axes.add_patch(frame)
    axes.axvline(len(CATEGORIES), color=BLACK, linewidth=0.5)
    axes.tick_params(length=0, rotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")


def main() -> None:
    settings = read_statistics(ScenarioIntervalSettings)
    paper, predictions = read_reported(), read_main_study()
    precision = of_groups(predictions, METHOD, partial(precisions, settings), workers())
    confused = rounded(of_groups(predictions, METHOD, confusions))
    scores = scores_of(read_metrics(MEASURED, PRIMARY_SET), precision, paper)
    drawn = confused.filter(
        pl.col("feature_set") == PRIMARY_SET, pl.col("answer").is_in(list(ANSWERS))
    )
    said = Captions.read("per_category", settings, paper, numbers(drawn, paper))
    publish_estimates(
        "per_category",
        precision,
        (*METHOD, "metric"),
        points=confused,
        tables=tables(scores, counts_of(confused, scores, paper), said),
        figures={"per_category": picture(drawn, paper, said)},
    )


if __name__ == "__main__":
    run(main)
