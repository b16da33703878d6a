"""Stage intervals: every rate of every method with its interval, reported beside measured."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base.methods import ENTRIES
from failbench.base.stage import read_output, read_section, workers
from failbench.base.telemetry import RUN_SCHEMA
from failbench.base.vocabulary import PRIMARY_SET
from failbench.statistics.intervals import IntervalSettings, intervals_table
from failbench.statistics.metrics import UnitCosts
from failbench.statistics.settings import read_with_statistics
from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, percent
from failbench.study.estimates import Estimates, reported
from failbench.study.inputs import Scope, majority_share, read_main_study, read_reported, scale_of
from failbench.study.labels import (
    FEATURE_SET_LABELS,
    development_note,
    in_label_order,
    is_blind,
    label_inside,
    made_in_view,
    method_label,
    reads_label,
    reads_true_category,
)
from failbench.study.paper_numbers import Reported, reported_accuracies
from failbench.study.plain_table import Divider, Table
from failbench.study.publication import publish_estimates, run
from failbench.study.tables import Of, Row, Text, n_of, table

RECORDED = Path("data/telemetry/runs.parquet")

KEYS = ("feature_set", "method", "metric")
PAPER = "reported"
MAJORITY = "majority"
CLASSIFIERS = ("tree or additive model", "ensemble of trees")
"""Families of what the paper calls classifiers."""


def printed(paper: Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints, as rows of a feature set of their own."""
    for method, accuracy in reported_accuracies(paper).items():
        row, keys = paper.tables.methods.rows.get(method), {"feature_set": PAPER, "method": method}
        low, high = (row and row.interval) or (None, None)
        yield {**keys, "metric": "accuracy", "value": accuracy, "ci_low": low, "ci_high": high}
        if row:
            yield from reported(keys=keys, **row.model_dump(include={"abstention", "quality"}))


def majority(predictions: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """What naming the most frequent category would score, on every feature set."""
    n, share = predictions["scenario"].n_unique(), majority_share(predictions)
    for name in FEATURE_SET_LABELS:
        yield from reported(n, keys={"feature_set": name, "method": MAJORITY}, accuracy=share)


def best_classifier(found: Estimates, paper: Reported) -> dict[str, object]:
    """The most accurate classifier of the paper's Table 1 on the paper's features, if any."""
    rows = paper.tables.methods.rows
    named = [name for name in rows if name in ENTRIES and ENTRIES[name].family in CLASSIFIERS]
    measured = found.where(feature_set=PRIMARY_SET, metric="accuracy").frame
    ranked = measured.filter(pl.col("method").is_in(named)).sort("value", "method").to_dicts()
    if not ranked:
        return {}
    method = ranked[-1]["method"]
    return {**ranked[-1], "label": label_inside(method), "reported": rows[method].accuracy}


def numbers(
    found: Estimates, predictions: pl.DataFrame, recorded: pl.DataFrame, paper: Reported
) -> dict[str, object]:
    scope = Scope.of(predictions)
    return {
        **vars(scope),
        "setting": scope.setting,
        "scale": scale_of(recorded.join(predictions, on="run_id", how="semi")),
        "development": " ".join(development_note(predictions["method"].unique())),
        "best": best_classifier(found, paper),
    }


def tables(
    found: Estimates, said: Captions, paper: Reported, measured: list[str]
) -> Iterator[Table]:
    """Accuracies, all that the paper reports as well, and what it does not."""
    body = [*method_rows(found, paper, measured)]
    names = [Text("Method"), Text("Reads")]
    of_paper = partial(Of, group=PAPER, keys={"feature_set": PAPER})
    first, *others = (
        partial(Of, group=label, keys={"feature_set": name})
        for name, label in FEATURE_SET_LABELS.items()
    )
    accuracies = [
        Of("accuracy", f"Measured, {label}", keys={"feature_set": name})
        for name, label in FEATURE_SET_LABELS.items()
    ]
    headline: list[Text | Of] = [*names, Text("Reported", align="right"), *accuracies]
    yield table("headline", found, headline, body, said)
    columns: list[Text | Of] = [
        *names,
        Text("Accuracy", PAPER, "right"),
        of_paper("abstention", "Abstention"),
        Text("Interpretable", PAPER, "right"),
        of_paper("quality", "Quality", form="one"),
        first("accuracy", "Accuracy"),
        first("abstention_rate", "Abstention"),
        first("accuracy_when_committed", "Accuracy when committed"),
        first("macro_f1", "Macro-F1"),
        first("conditions_to_read", "Conditions to read", form="one"),
        *(other("accuracy", "Accuracy") for other in others),
        n_of("accuracy", feature_set=PRIMARY_SET),
    ]
    yield table("methods", found, columns, body, said)
    scores: list[Text | Of] = [
        Text("Method"),
        Text("Features"),
        Of("balanced_accuracy", "Balanced accuracy"),
        Of("accuracy_abstaining_on_unknown", "Accuracy if abstaining on unknown is right"),
        Of("brier", "Brier score", form="three"),
        Of("log_loss", "Log loss", form="three"),
        Of("calibration_error", "Calibration error", form="three"),
        Of("calibration_floor", "Its floor", form="three"),
        n_of("accuracy"),
    ]
    pairs = product(measured, FEATURE_SET_LABELS.items())
    of_pairs = [
        Row((method_label(method), label), {"method": method, "feature_set": name})
        for method, (name, label) in pairs
    ]
    yield table("scores", found, scores, of_pairs, said)


def method_rows(found: Estimates, paper: Reported, measured: list[str]) -> Iterator[Row | Divider]:
    """Methods of the paper, then others; those that are not blind below dividers."""
    rows = {}
    for method in dict.fromkeys([*paper.tables.methods.rows, *measured]):
        accuracy = found.cell(feature_set=PAPER, method=method, metric="accuracy")
        row = paper.tables.methods.rows.get(method)
        if row and row.standard_deviation is not None:
            accuracy = f"{accuracy} ± {percent(row.standard_deviation)}"
        texts = (method_label(method), reads_label(method), accuracy)
        rows[method] = Row((*texts, row.interpretable if row else ABSENT), {"method": method})
    yield from (row for method, row in rows.items() if is_blind(method))
    yield Row(("Majority category", "nothing", ABSENT, ABSENT), {"method": MAJORITY})
    if developed := [row for method, row in rows.items() if made_in_view(method)]:
        yield Divider("Rules made with these scenarios in view:")
        yield from developed
    yield Divider("Handed the true category:")
    yield from (row for method, row in rows.items() if reads_true_category(method))


def main() -> None:
    said = Captions.read("intervals")
    settings = read_with_statistics("intervals", IntervalSettings)
    costs = read_section("costs", UnitCosts)
    predictions, paper = read_main_study(), read_reported()
    estimates = intervals_table(predictions, settings, workers(), costs)
    found = Estimates.of(estimates).plus(*printed(paper), *majority(predictions))
    named = numbers(found, predictions, read_output(RECORDED, RUN_SCHEMA), paper)
    said = said.with_numbers(found.nested(*KEYS), settings, named)
    publish_estimates(
        "intervals",
        estimates,
        KEYS,
        tables=tables(found, said, paper, in_label_order(predictions["method"])),
        sentences={"finding": said.text("finding", "text") + "\n"},
    )


if __name__ == "__main__":
    run(main)
