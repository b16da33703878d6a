"""Results of the trade-off: each method's accuracy, and what a reader must check, as points."""

from __future__ import annotations

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.cells import Measured
from failbench.reporting.labels import is_blind
from failbench.reporting.reported import Reported

POINTS_SCHEMA = pl.Schema(
    {
        "source": pl.String,  # measured or reported
        "method": pl.String,
        "accuracy": pl.Float64,
        "accuracy_low": pl.Float64,
        "accuracy_high": pl.Float64,
        "conditions": pl.Float64,
        "conditions_low": pl.Float64,
        "conditions_high": pl.Float64,
        "score_low": pl.Float64,
        "score_high": pl.Float64,
        "n": pl.Int64,
    }
)


def tradeoff_points(measured: Measured, paper: Reported) -> pl.DataFrame:
    """What the figure draws; conditions are those of held-out methods alone.

    What breaks first among invariants is verified by all that take precedence over it, which nobody
    counts; and of what is handed the true category there is nothing to verify.
    """
    rows: list[dict[str, object]] = []
    for method, estimates in sorted(measured.get(PRIMARY_SET, {}).items()):
        row: dict[str, object] = {"source": "measured", "method": method}
        row["n"] = int(estimates["accuracy"]["n"])
        for metric, column in (("accuracy", "accuracy"), ("conditions_to_read", "conditions")):
            if metric in estimates and (metric == "accuracy" or is_blind(method)):
                row[column] = estimates[metric]["value"]
                row[f"{column}_low"] = estimates[metric]["ci_low"]
                row[f"{column}_high"] = estimates[metric]["ci_high"]
        rows.append(row)
    for method, point in sorted(paper.figures.tradeoff.rows.items()):
        in_table = paper.tables.methods.rows.get(method)
        low, high = (None, None) if in_table is None else in_table.interval or (None, None)
        rows.append(
            {
                "source": "reported",
                "method": method,
                "accuracy": point.accuracy,
                "accuracy_low": low,
                "accuracy_high": high,
                "score_low": point.interpretability[0],
                "score_high": point.interpretability[1],
            }
        )
    return pl.DataFrame(rows, schema=POINTS_SCHEMA)
