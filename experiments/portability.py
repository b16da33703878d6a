"""Stage portability: accuracy of rules and classifiers of one optimizer under another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.base.stage import read_names, read_outputs, read_section, workers
from failbench.base.workers import parallel_map
from failbench.statistics.intervals import ScenarioIntervalSettings, nest
from failbench.statistics.metrics import METRICS
from failbench.statistics.pairs import Pair
from failbench.statistics.settings import read_statistics
from failbench.statistics.significance import (
    ComparisonSettings,
    Difference,
    compare_all,
    contrasts_of,
    difference_metrics,
)
from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, percent
from failbench.study.estimates import Estimates, of_differences, of_groups, of_scenarios, rounded
from failbench.study.inputs import read_reported
from failbench.study.labels import (
    ARCHITECTURE_LABELS,
    development_note,
    drawn_label,
    in_label_order,
    is_blind,
    label_inside,
    made_in_view,
    method_label,
)
from failbench.study.paper_numbers import Reported, reported_number
from failbench.study.picture import dot_panels, legend_outside
from failbench.study.plain_table import Table
from failbench.study.publication import publish, run
from failbench.study.style import GREY, REPORTED, method_styles
from failbench.study.tables import Of, Row, Text, table
from shared.portability import (
    ADAPTIVE,
    CARRIED_SCHEMA,
    FIXED,
    HOME,
    HOME_ADAPTIVE,
    METHODS,
    ON_KNOWN,
    RECALIBRATED,
    PortabilitySettings,
    methods_carried,
)

PREDICTIONS = Path("data/predictions/portability")

KEYS = ("method", "condition", "metric")
OPTIMIZERS = {"adamw": "AdamW", "sgd": "SGD"}
SCALES = {
    HOME: "as tuned",
    FIXED: "fixed",
    RECALIBRATED: "recalibrated",
    ADAPTIVE: "adaptive",
    HOME_ADAPTIVE: "adaptive",
}
"""Conditions in the order of the table, and how their thresholds are called."""


def rates(
    predictions: pl.DataFrame, intervals: ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """How often a method is right in a condition."""
    metrics = tuple(METRICS[name] for name in ("accuracy", "macro_f1", "abstention_rate"))
    estimates = of_scenarios(predictions, metrics, intervals, (), **keys)
    return estimates.with_columns(runs=pl.lit(predictions["run_id"].n_unique()))


def contrasts(
    predictions: pl.DataFrame, pairs: tuple[Pair, ...], tests: ComparisonSettings, workers: int = 1
) -> list[Difference]:
    """Contrasts of the conditions that each method has."""
    of_history = {ADAPTIVE, HOME_ADAPTIVE}
    unadapted = tuple(pair for pair in pairs if of_history.isdisjoint(pair))
    tasks = [
        (method, part, unadapted if method in ON_KNOWN else pairs, tests)
        for method in (*METHODS, *ON_KNOWN)
        if (part := predictions.filter(method=method)).height
    ]
    return list(chain.from_iterable(parallel_map(contrast, tasks, workers)))


def contrast(
    method: str, predictions: pl.DataFrame, pairs: tuple[Pair, ...], tests: ComparisonSettings
) -> list[Difference]:
    """Contrasts of conditions; those of a method made in view are in-sample, and not tested."""
    conditions = predictions.with_columns(feature_set="method", method="condition")
    compared = contrasts_of(compare_all(conditions, tests.named(method, pairs)))
    return [each.untested if made_in_view(method) else each for each in compared]


def names(settings: PortabilitySettings) -> dict[str, str]:
    """Runs at home and away by their optimizer, and architecture where that is what differs."""
    named = {}
    for place in ("home", "away"):
        setting = getattr(settings, place)
        named[place] = OPTIMIZERS[setting.optimizer]
        if settings.home.architecture != settings.away.architecture:
            named[place] = f"{ARCHITECTURE_LABELS[setting.architecture]} with {named[place]}"
    return named


def numbers(
    found: Estimates, tested: Estimates, paper: Reported, labels: Mapping[str, str]
) -> dict[str, object]:
    """Among them the held-out method that loses most when it is carried over as it is."""
    held_out = list(filter(is_blind, found.distinct("method")))
    accuracies = found.where(metric="accuracy").frame.filter(pl.col("method").is_in(held_out))
    wide = accuracies.pivot("condition", index="method", values="value")
    loses = wide.sort(pl.col(FIXED) - pl.col(HOME), "method").row(0, named=True)
    return {
        "place": paper.claims["sgd_accuracy"].place,
        "monitored": not set(ON_KNOWN).isdisjoint(found.distinct("method")),
        "n": tested.frame["n"].max(),
        "method": label_inside(loses["method"]),
        "before": loses[HOME],
        "after": loses[FIXED],
        "lost": loses[FIXED] < loses[HOME],
        "tuned": labels[HOME],
        "fixed": labels[FIXED],
    }


def tables(
    found: Estimates,
    tested: Estimates,
    said: Captions,
    paper: Reported,
    labels: Mapping[str, str],
) -> Iterator[Table]:
    """Accuracy of every method in every condition, and the contrasts of each method."""
    methods = in_label_order(found.distinct("method"))
    printed = dict.fromkeys(labels, ABSENT) | {
        HOME: f"> {percent(reported_number(paper, 'adam_accuracy_floor'))}",
        FIXED: percent(reported_number(paper, "sgd_accuracy")),
    }
    body = [Row(("Rules, reported", *printed.values(), ABSENT, ABSENT))]
    for method in methods:
        of_method = found.where(method=method, metric="accuracy")
        sizes = (str(of_method.frame[size].max()) for size in ("n", "runs"))
        cells = (of_method.cell(condition=condition) for condition in labels)
        body.append(Row((method_label(method), *cells, *sizes)))
    yield table(
        "portability",
        found,
        [
            Text("Method"),
            *(Text(heading, align="right") for heading in (*labels.values(), "Scenarios", "Runs")),
        ],
        body,
        said,
        *development_note(methods),
    )
    pairs = tested.where(metric="difference").frame.select("feature_set", "left", "right")
    yield table(
        "portability_contrasts",
        tested,
        [
            Text("Method"),
            Text("Left"),
            Text("Right"),
            Of("difference", "Difference"),
            Of("p_holm", "p (Holm)", form="three"),
            Of("p_equivalence", "p", "equivalence", "three"),
            Of("equivalent", "Verdict", "equivalence", verdict),
            Of("smallest_margin", "Smallest margin"),
            Of("detectable_difference", "Detectable"),
        ],
        [
            Row(
                (method_label(keys["feature_set"]), labels[keys["left"]], labels[keys["right"]]),
                keys,
            )
            for keys in pairs.iter_rows(named=True)
        ],
        said,
        *development_note(methods),
    )


def verdict(equivalent: float) -> str:
    return "shown" if equivalent else "not shown"


RULES = ("simple_rules", "improved_rules")
"""The original carries "fixed thresholds of rule-based methods" over, and says not of which."""

RULES_REPORTED = replace(REPORTED, label="reported of rules, not said of which")


def draw(points: pl.DataFrame, labels: Mapping[str, str], paper: float, figure: Figure) -> None:
    """A panel per condition and a row per method."""
    methods = in_label_order(points["method"])
    panels = {
        condition: labels[condition].replace(", ", ",\n")
        for condition in (HOME, HOME_ADAPTIVE, FIXED, RECALIBRATED, ADAPTIVE)
    }
    grid = dot_panels(
        figure,
        points.rename({"condition": "panel"}).with_columns(row="method", mark="method"),
        {method: drawn_label(method) for method in methods},
        method_styles(methods),
        panels,
        spread=0.0,
    )
    for position, method in enumerate(methods):
        if method in RULES:
            grid[list(panels).index(FIXED)].plot(100 * paper, position, **RULES_REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in points["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    handles = [
        RULES_REPORTED.handle,
        Line2D([], [], color=GREY, label="value of the first panel"),
    ]
    if any(map(made_in_view, methods)):
        handles.append(Line2D([], [], linestyle="none", label="*: development (in-sample)"))
    legend_outside(figure, handles, columns=3)


def main() -> None:
    settings, paper = read_section("portability", PortabilitySettings), read_reported()
    intervals = read_statistics(ScenarioIntervalSettings)
    tests = read_statistics(ComparisonSettings)
    predictions = read_outputs(PREDICTIONS, methods_carried(read_names("methods")), CARRIED_SCHEMA)
    estimates = of_groups(predictions, KEYS[:2], partial(rates, intervals=intervals), workers())
    compared = contrasts(predictions, settings.contrasts, tests, workers())
    found, tested = Estimates.of(estimates), Estimates.of(of_differences(compared))
    named = names(settings)
    labels = {
        condition: f"{named['home' if condition.startswith('home') else 'away']}, {scale}"
        for condition, scale in SCALES.items()
    }
    said = Captions.read(
        "portability", settings, tests, named, numbers(found, tested, paper, labels)
    )
    points = rounded(estimates).filter(metric="accuracy")
    height = 0.9 + 0.24 * points["method"].n_unique()
    drawn = partial(draw, points, labels, reported_number(paper, "sgd_accuracy"))
    publish(
        "portability",
        metrics={
            "rates": nest(estimates, *KEYS),
            "contrasts": {
                method: difference_metrics(each for each in compared if each.feature_set == method)
                for method in found.distinct("method")
            },
        },
        points=estimates,
        tables=tables(found, tested, said, paper, labels),
        figures={"portability": said.picture("figure", height, drawn)},
        summary=points.select(*KEYS, "value", "ci_low", "ci_high", "n", "runs"),
    )


if __name__ == "__main__":
    run(main)
