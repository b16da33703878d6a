"""Stage intervals: every rate of every method with its interval, reported beside measured."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from failbench.base.telemetry import RUN_SCHEMA

RECORDED = Path("data/telemetry/runs.parquet")

KEYS = ("feature_set", "method", "metric")
PAPER = "reported"
MAJORITY = "majority"
CLASSIFIERS = ("tree or additive model", "ensemble of trees")
"""Families of what the paper calls classifiers."""


def figures(
    settings: st.IntervalSettings,
    costs: st.UnitCosts | None,
    predictions: pl.DataFrame,
    **keys: Any,
) -> pl.DataFrame:
    """Every figure of one method and feature set."""
    return st.estimate_rows(st.method_intervals(predictions, settings, costs), **keys)


def printed(paper: st.Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints, as rows of a feature set of their own."""
    for method, accuracy in st.reported_accuracies(paper).items():
        row, keys = paper.tables.methods.rows.get(method), {"feature_set": PAPER, "method": method}
        low, high = (row and row.interval) or (None, None)
        yield {**keys, "metric": "accuracy", "value": accuracy, "ci_low": low, "ci_high": high}
        if row:
            yield from st.reported(keys=keys, **row.model_dump(include={"abstention", "quality"}))


def majority(predictions: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """What naming the most frequent category would score, on every feature set."""
    n, share = predictions["scenario"].n_unique(), st.majority_share(predictions)
    for name in st.FEATURE_SET_LABELS:
        yield from st.reported(n, keys={"feature_set": name, "method": MAJORITY}, accuracy=share)


def best_classifier(found: st.Estimates, paper: st.Reported) -> dict[str, object]:
    """The most accurate classifier of the paper's Table 1 on the paper's features, if any."""
    rows = paper.tables.methods.rows
    named = [name for name in rows if name in st.ENTRIES and st.ENTRIES[name].family in CLASSIFIERS]
    measured = found.where(feature_set=st.PRIMARY_SET, metric="accuracy").frame
    ranked = measured.filter(pl.col("method").is_in(named)).sort("value", "method").to_dicts()
    if not ranked:
        return {}
    method = ranked[-1]["method"]
    return {**ranked[-1], "label": st.label_inside(method), "reported": rows[method].accuracy}


def numbers(
    found: st.Estimates, predictions: pl.DataFrame, recorded: pl.DataFrame, paper: st.Reported
) -> dict[str, object]:
    scope = st.Scope.of(predictions)
    return {
        **vars(scope),
        "setting": scope.setting,
        "scale": st.scale_of(recorded.join(predictions, on="run_id", how="semi")),
        "development": " ".join(st.development_note(predictions["method"].unique())),
        "model_runs": predictions.filter(method=st.RECORDED_MODEL)["run_id"].n_unique(),
        "best": best_classifier(found, paper),
    }


def tables(
    found: st.Estimates, said: st.Captions, paper: st.Reported, measured: list[str]
) -> Iterator[st.Table]:
    """Accuracies, all that the paper reports as well, and what it does not."""
    body = [*method_rows(found, paper, measured)]
    for name in ("headline", "methods"):
        yield st.table(name, found, None, body, said)
    pairs = product(measured, st.FEATURE_SET_LABELS.items())
    of_pairs = [
        st.Row((st.method_label(method), label), {"method": method, "feature_set": name})
        for method, (name, label) in pairs
    ]
    yield st.table("scores", found, None, of_pairs, said)


DIVIDERS = {
    "*": "Rules developed on these scenarios (in-sample):",
    "‡": "Fitted out of fold to checks developed on these scenarios:",
    "†": "Handed the true category:",
}
"""Above the methods of a mark."""


def method_rows(
    found: st.Estimates, paper: st.Reported, measured: list[str]
) -> Iterator[st.Row | st.Divider]:
    """Methods of the paper, then others; those that are not blind below dividers."""
    rows = {}
    for method in dict.fromkeys([*paper.tables.methods.rows, *measured]):
        accuracy = found.cell(feature_set=PAPER, method=method, metric="accuracy")
        row = paper.tables.methods.rows.get(method)
        if row and row.standard_deviation is not None:
            accuracy = f"{accuracy} ± {st.percent(row.standard_deviation)}"
        texts = (st.method_label(method), st.reads_label(method), accuracy)
        rows[method] = st.Row((*texts, row.interpretable if row else st.ABSENT), {"method": method})
    yield from (row for method, row in rows.items() if st.is_blind(method))
    yield st.Row(("Majority category", "nothing", st.ABSENT, st.ABSENT), {"method": MAJORITY})
    for mark, title in DIVIDERS.items():
        if marked := [row for method, row in rows.items() if st.mark_of(method) == mark]:
            yield st.Divider(title)
            yield from marked


def main() -> None:
    said = st.Captions.read("intervals")
    settings = st.read_with_statistics("intervals", st.IntervalSettings)
    costs = st.read_section("costs", st.UnitCosts)
    paper = st.read_reported()
    predictions = pl.concat([st.read_main_study(), st.read_recorded_model()])
    of_method = partial(figures, settings, costs)
    estimates = st.of_groups(predictions, KEYS[:2], of_method, st.workers())
    found = st.Estimates.of(estimates).plus(*printed(paper), *majority(predictions))
    named = numbers(found, predictions, st.read_output(RECORDED, RUN_SCHEMA), paper)
    said = said.with_numbers(found.nested(*KEYS), settings, named)
    st.publish_estimates(
        "intervals",
        estimates,
        KEYS,
        tables=tables(found, said, paper, st.in_label_order(predictions["method"])),
        sentences={"finding": said.text("finding", "text") + "\n"},
    )


if __name__ == "__main__":
    st.run(main)
