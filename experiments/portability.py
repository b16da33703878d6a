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

from failbench import study as st
from shared import portability as carried
from shared.portability import (
    ADAPTIVE,
    FIXED,
    HOME,
    HOME_ADAPTIVE,
    RECALIBRATED,
    PortabilitySettings,
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
    predictions: pl.DataFrame, intervals: st.ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """How often a method is right in a condition."""
    metrics = tuple(st.METRICS[name] for name in ("accuracy", "macro_f1", "abstention_rate"))
    estimates = st.of_scenarios(predictions, metrics, intervals, (), **keys)
    return estimates.with_columns(runs=pl.lit(predictions["run_id"].n_unique()))


def contrasts(
    predictions: pl.DataFrame,
    pairs: tuple[st.Pair, ...],
    tests: st.ComparisonSettings,
    workers: int = 1,
) -> list[st.Difference]:
    """Contrasts of the conditions that each method has."""
    of_history = {ADAPTIVE, HOME_ADAPTIVE}
    unadapted = tuple(pair for pair in pairs if of_history.isdisjoint(pair))
    tasks = [
        (method, part, unadapted if method in carried.ON_KNOWN else pairs, tests)
        for method in (*carried.METHODS, *carried.ON_KNOWN)
        if (part := predictions.filter(method=method)).height
    ]
    return list(chain.from_iterable(st.parallel_map(contrast, tasks, workers)))


def contrast(
    method: str, predictions: pl.DataFrame, pairs: tuple[st.Pair, ...], tests: st.ComparisonSettings
) -> list[st.Difference]:
    """Contrasts of conditions; those of a method made in view are in-sample, and not tested."""
    conditions = predictions.with_columns(feature_set="method", method="condition")
    compared = st.compare_all(conditions, tests.named(method, pairs))
    return [each.untested if st.made_in_view(method) else each for each in compared]


def names(settings: PortabilitySettings) -> dict[str, str]:
    """Runs at home and away by their optimizer, and architecture where that is what differs."""
    named = {}
    for place in ("home", "away"):
        setting = getattr(settings, place)
        named[place] = OPTIMIZERS[setting.optimizer]
        if settings.home.architecture != settings.away.architecture:
            named[place] = f"{st.ARCHITECTURE_LABELS[setting.architecture]} with {named[place]}"
    return named


def numbers(
    found: st.Estimates, tested: st.Estimates, labels: Mapping[str, str]
) -> dict[str, object]:
    """Among them the held-out method that loses most when it is carried over as it is."""
    accuracies = found.where(metric="accuracy").frame.filter(st.is_of_blind())
    wide = accuracies.pivot("condition", index="method", values="value")
    loses = wide.sort(pl.col(FIXED) - pl.col(HOME), "method").row(0, named=True)
    return {
        "monitored": not set(carried.ON_KNOWN).isdisjoint(found.distinct("method")),
        "n": tested.frame["n"].max(),
        "method": st.label_inside(loses["method"]),
        "before": loses[HOME],
        "after": loses[FIXED],
        "lost": loses[FIXED] < loses[HOME],
        "called": labels,
    }


def tables(
    found: st.Estimates,
    tested: st.Estimates,
    said: st.Captions,
    paper: st.Reported,
    labels: Mapping[str, str],
) -> Iterator[st.Table]:
    """Accuracy of every method in every condition, and the contrasts of each method."""
    methods = st.in_label_order(found.distinct("method"))
    printed = dict.fromkeys(labels, st.ABSENT) | {
        HOME: f"> {st.percent(st.reported_number(paper, 'adam_accuracy_floor'))}",
        FIXED: st.percent(st.reported_number(paper, "sgd_accuracy")),
    }
    body = [("Rules, reported", *printed.values(), st.ABSENT, st.ABSENT)]
    for method in methods:
        of_method = found.where(method=method, metric="accuracy")
        sizes = (str(of_method.frame[size].max()) for size in ("n", "runs"))
        cells = (of_method.cell(condition=condition) for condition in labels)
        body.append((st.method_label(method), *cells, *sizes))
    notes = st.development_note(methods)
    yield st.sheet("portability", body, said, *notes)
    pairs = tested.where(metric="difference").frame.select("feature_set", "left", "right")
    compared = []
    for keys in pairs.iter_rows(named=True):
        texts = (st.method_label(keys["feature_set"]), labels[keys["left"]], labels[keys["right"]])
        compared.append(st.Row(texts, keys))
    yield st.table("portability_contrasts", tested, None, compared, said, *notes)


RULES = ("simple_rules", "improved_rules")
"""The original carries "fixed thresholds of rule-based methods" over, and says not of which."""

RULES_REPORTED = replace(st.REPORTED, label="reported for rules, not stated which")


def draw(points: pl.DataFrame, labels: Mapping[str, str], paper: float, figure: Figure) -> None:
    """A panel per condition and a row per method."""
    methods = st.in_label_order(points["method"])
    panels = {
        condition: labels[condition].replace(", ", ",\n")
        for condition in (HOME, HOME_ADAPTIVE, FIXED, RECALIBRATED, ADAPTIVE)
    }
    grid = st.dot_panels(
        figure,
        points.rename({"condition": "panel"}).with_columns(row="method", mark="method"),
        {method: st.drawn_label(method) for method in methods},
        st.method_styles(methods),
        panels,
        spread=0.0,
    )
    for position, method in enumerate(methods):
        if method in RULES:
            grid[list(panels).index(FIXED)].plot(100 * paper, position, **RULES_REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in points["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    first = Line2D([], [], color=st.GREY, label="value of the first panel")
    marks = st.marks_explained(methods)
    st.legend_outside(figure, [RULES_REPORTED, first, *marks], columns=2)


def main() -> None:
    paper = st.read_reported()
    settings = st.read_section("portability", PortabilitySettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    tests = st.read_statistics(st.ComparisonSettings)
    asked = carried.methods_carried(st.read_names("methods"))
    predictions = st.read_outputs(PREDICTIONS, asked, carried.CARRIED_SCHEMA)
    of_condition = partial(rates, intervals=intervals)
    estimates = st.of_groups(predictions, KEYS[:2], of_condition, st.workers())
    compared = contrasts(predictions, settings.contrasts, tests, st.workers())
    found, tested = st.Estimates.of(estimates), st.Estimates.of(st.of_differences(compared))
    named = names(settings)
    labels = {
        condition: f"{named['home' if condition.startswith('home') else 'away']}, {scale}"
        for condition, scale in SCALES.items()
    }
    counted = numbers(found, tested, labels)
    said = st.Captions.read("portability", settings, tests, paper, named, counted)
    points = st.rounded(estimates).filter(metric="accuracy")
    height = 0.9 + 0.24 * points["method"].n_unique()
    drawn = partial(draw, points, labels, st.reported_number(paper, "sgd_accuracy"))
    st.publish(
        "portability",
        metrics={
            "rates": st.nest(estimates, *KEYS),
            "contrasts": {
                method: st.difference_metrics(of for of in compared if of.feature_set == method)
                for method in found.distinct("method")
            },
        },
        points=estimates,
        tables=tables(found, tested, said, paper, labels),
        figures={"portability": said.picture("figure", height, drawn)},
        summary=points.select(*KEYS, "value", "ci_low", "ci_high", "n", "runs"),
    )


if __name__ == "__main__":
    st.run(main)
