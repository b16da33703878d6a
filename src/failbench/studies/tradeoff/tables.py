"""The table of the trade-off: what a condition is, kind of method by kind of method."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.reporting.cells import one_decimal
from failbench.reporting.labels import (
    in_label_order,
    made_in_view,
    method_label,
    reads_true_category,
)
from failbench.reporting.table import Column, Table

MODELS: Final = "a value that the answer cites"
BY_METHOD: Final = {
    **dict.fromkeys(
        ("simple_rules", "improved_rules"),
        "a test on the way to the answer, and one that fails for each rule or branch passed over",
    ),
    **dict.fromkeys(
        ("learned_rules", "decision_tree"),
        "a test on the one path to the answer, bounds on the same feature being merged",
    ),
    **dict.fromkeys(
        ("logistic_regression", "ebm", "raw_series", "raw_text", "raw_telemetry"),
        "one of the fewest terms that make up 95 % of the score of the answer",
    ),
    **dict.fromkeys(
        ("random_forest", "symptom_baseline"), "a test on the path through any of the trees"
    ),
    "lightgbm": "a test on the path through any of the trees of the answered category",
    "hybrid_two_way": "a condition of the member that answers",
    "ending": "how the run ended",
}
IN_VIEW: Final = (
    "not counted: that an invariant broke first also takes that no family with precedence over it "
    "broke, and a flag of a tree or of a term stands for a check of every step"
)
TOLD: Final = "not counted: a simulated person, who is handed the true category, shows none"

NOTE: Final = (
    "Conditions: how many a reader must check to verify one answer, mean over n = {n} scenarios on "
    "the paper's features. Counts of different kinds of method are not comparable one to one: a "
    "test, a term and an ending are not equally hard to check."
)


def tradeoff_table(points: pl.DataFrame) -> Table:
    """A row for each kind, with its methods and their mean conditions."""
    counts = dict(points.filter(source="measured").select("method", "conditions").iter_rows())
    kinds: dict[str, list[str]] = {}
    for method in in_label_order(counts):
        kinds.setdefault(_condition(method), []).append(_named(method, counts[method]))
    return Table.of(
        "tradeoff",
        (
            Column("Methods (conditions)", align="left", width=0.4, cell=lambda kind: kind[0]),
            Column("A condition is", align="left", width=0.6, cell=lambda kind: kind[1]),
        ),
        [("; ".join(methods), condition) for condition, methods in kinds.items()],
        "What counts as a condition to read, by kind of method.",
        (NOTE.format(n=max(points["n"].drop_nulls())),),
    )


def _condition(method: str) -> str:
    if reads_true_category(method):
        return TOLD
    return IN_VIEW if made_in_view(method) else BY_METHOD.get(method, MODELS)


def _named(method: str, count: float | None) -> str:
    return method_label(method) + ("" if count is None else f" ({one_decimal(count)})")
