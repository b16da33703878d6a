"""Stage tradeoff: accuracy reported beside measured, and what a reader must check for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from failbench import study as st
from failbench.base.stage import REMEDY

METRICS = Path("data/metrics/intervals.json")
AUTHORS = Path("data/metrics/authors.json")
LOGS = Path("data/metrics/diagnose_logs.json")

LOG, MONITOR = "diagnose_log", "diagnose_monitor"
"""What is asked of a failed run's complete log, and of the monitor's with bounds of others."""

PATHS = (
    ("measured", LOG, "rates.log_complete.whole.whole.accuracy"),
    ("measured", MONITOR, "learnt.scenario.A.carried.accuracy"),
    ("author_b", MONITOR, "learnt.author.B.carried.accuracy"),
    ("field", LOG, "learnt.author.field.console.accuracy"),
    ("field", MONITOR, "learnt.author.field.carried.accuracy"),
    ("field", "invariants", "learnt.author.field.carried.by_hand"),
)
"""Source, row and estimate of the study of logs; of the last two sources an author is left out."""

NUMBERS = ("accuracy", "conditions")
ENDS = {"": "value", "_low": "ci_low", "_high": "ci_high"}
COLUMNS = pl.Schema(
    {
        "source": pl.String,  # measured, reported, author_b or field
        "method": pl.String,
        **{f"{name}{end}": pl.Float64 for name in NUMBERS for end in ENDS},
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


def tradeoff(
    measured: st.Measured,
    paper: st.Reported,
    authors: Mapping[str, object],
    logs: Mapping[str, object],
) -> pl.DataFrame:
    """Each method's accuracy by source, and what a reader must check, of held-out methods alone.

    What breaks first among invariants is verified by all that take precedence over it, which nobody
    counts; and of what is handed the true category there is nothing to verify.
    """
    rows: list[dict[str, object]] = []
    for method, estimates in sorted(measured[st.PRIMARY_SET].items()):
        rows.append({"source": "measured", "method": method, **_rate(estimates["accuracy"])})
        if "conditions_to_read" in estimates and st.is_blind(method):
            rows[-1] |= _bounded("conditions", estimates["conditions_to_read"])
        if carried := st.at_path(authors, f"{method}.a_to_b.accuracy"):
            rows.append({"source": "author_b", "method": method, **_rate(carried)})
    if all(row["source"] != "author_b" for row in rows):
        raise st.BadInputError(AUTHORS, "a_to_b", "has no estimate of a method.", REMEDY)
    for source, method, path in PATHS:
        found = st.at_path(logs, path)
        if not found:
            raise st.BadInputError(LOGS, path, "is missing.", REMEDY)
        rows.append({"source": source, "method": method, **_rate(found)})
    printed = paper.tables.methods.rows
    scores = {method: row.interpretability for method, row in paper.figures.tradeoff.rows.items()}
    for method, value in sorted(st.reported_accuracies(paper).items()):
        low, high = (method in printed and printed[method].interval) or (None, None)
        row = {"source": "reported", "method": method}
        rows.append(row | _bounded("accuracy", {"value": value, "ci_low": low, "ci_high": high}))
        rows[-1] |= dict(zip(("score_low", "score_high"), scores.get(method, ()), strict=False))
    return st.rounded(pl.DataFrame(rows, schema=COLUMNS))


def _rate(estimate: Mapping[str, float]) -> dict[str, object]:
    return {"n": int(estimate["n"]), **_bounded("accuracy", estimate)}


def _bounded(name: str, estimate: Mapping[str, float | None]) -> dict[str, object]:
    return {f"{name}{end}": estimate[key] for end, key in ENDS.items()}


def numbers(points: pl.DataFrame) -> dict[str, object]:
    """What the original's most accurate method that is measured reaches, and sizes by source."""
    both = points.filter(source="reported").join(points.filter(source="measured"), on="method")
    first = max(both["accuracy"], default=None)
    best = st.in_label_order(both.filter(accuracy=first)["method"])[:1]
    named = both.filter(pl.col("method").is_in(best)).select(
        reported="accuracy", measured="accuracy_right"
    )
    sizes = points.group_by("source").agg(pl.col("n").max()).drop_nulls()
    return {
        "method": "".join(map(st.label_inside, best)),
        **(named.to_dicts() or [{}])[0],
        "n": points["n"].max(),
        "sizes": dict(sizes.iter_rows()),
    }


def definitions(points: pl.DataFrame, said: st.Captions) -> st.Table:
    """What a condition is, kind of method by kind of method, with their mean conditions."""
    measured = points.filter(~pl.col("method").is_in([LOG, MONITOR]), source="measured")
    counts = dict(measured.select("method", "conditions").iter_rows())
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


ROWS = {
    **{
        method: st.drawn_label(method)
        for method in (
            *("simple_rules", "improved_rules", "learned_rules", "mistral_7b", "llama_3_8b"),
            *("logistic_regression", "decision_tree", "random_forest", "lightgbm", "ebm"),
            *("hybrid_two_way", "simulated_human", "hybrid"),
            *("raw_telemetry", st.RECORDED_MODEL, "invariants", "forest_on_invariants"),
        )
    },
    LOG: "failbench diagnose, log‡",
    MONITOR: "failbench diagnose, monitor‡",
}
"""Methods of the original, those of them that are handed the category, and what it has not."""
HEAVY_ABOVE = ("simulated_human", "raw_telemetry")

REPORTED, MEASURED, IN_SAMPLE = "reported", "measured", "in_sample"
MARKS = {
    REPORTED: st.REPORTED,
    MEASURED: st.Mark("scenarios, held out", st.BLUE, "o"),
    IN_SAMPLE: st.Mark("scenarios, in-sample or handed the category", st.BLUE, "o", "none"),
    "author_b": st.Mark("causes of author B", st.VERMILLION, "s"),
    "field": st.Mark("programs of others", st.GREEN, "^"),
}
LANES = {REPORTED: 0, MEASURED: 0, IN_SAMPLE: 0, "author_b": 1, "field": 2}


def draw(points: pl.DataFrame, figure: Figure) -> None:
    """A row per method, and a mark for each source; behind the rows the conditions to read."""
    axes = figure.subplots()
    hollow = [method for method in ROWS if st.mark_of(method) in ("*", "†")]
    in_sample = pl.col("method").is_in(hollow) & (pl.col("source") == MEASURED)
    mark = pl.when(in_sample).then(pl.lit(IN_SAMPLE)).otherwise("source")
    of_rate = {name: f"accuracy{end}" for end, name in ENDS.items()}
    drawn = points.with_columns(row="method", mark=mark, **of_rate)
    rows = {row: label for row, label in ROWS.items() if row in set(points["method"])}
    st.dot_plot(axes, drawn, rows, MARKS, heavy_above=HEAVY_ABOVE, lanes=LANES)
    counts = dict(points.drop_nulls("conditions").select("method", "conditions").iter_rows())
    texts = (f"{counts[row]:,.0f}" if row in counts else st.ABSENT for row in rows)
    st.beside_rows(axes, "conditions\nto read", texts)
    axes.set(xlim=(0, 100), xlabel="category of five right, percent, with interval")
    counted = dict(drawn.group_by("mark").agg(pl.col("n").max()).drop_nulls().iter_rows())
    sized = {name: f"{n} {MARKS[name].label}" for name, n in counted.items()}
    marks = [replace(mark, label=sized.get(name, mark.label)) for name, mark in MARKS.items()]
    st.legend_outside(figure, [*marks, *st.marks_explained(rows)], columns=2)


def main() -> None:
    measured = st.read_metrics(METRICS, st.PRIMARY_SET)
    recorded = st.at_path(st.read_earlier(METRICS), f"{st.PRIMARY_SET}.{st.RECORDED_MODEL}")
    if recorded:
        measured[st.PRIMARY_SET] |= {st.RECORDED_MODEL: recorded}
    authors, logs = (st.read_earlier(path) for path in (AUTHORS, LOGS))
    points = tradeoff(measured, st.read_reported(), authors, logs)
    said = st.Captions.read("tradeoff", numbers(points))
    st.publish(
        "tradeoff",
        points=points,
        tables=[definitions(points, said)],
        figures={"reported_measured": said.picture("figure", 3.9, partial(draw, points))},
        summary=points.select("source", "method", *NUMBERS, "score_low", "score_high"),
    )


if __name__ == "__main__":
    st.run(main)
