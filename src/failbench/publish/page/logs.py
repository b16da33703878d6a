"""Logs: what `failbench diagnose` answers when it is given a run as a log."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.neighbours.rendering.shape import COMPLETE

IS_COMPLETE: Final = pl.col("format") == COMPLETE

KINDS: Final = (
    ("any log", (pl.col("model") == "log") & ~IS_COMPLETE),
    ("complete log", (pl.col("model") == "log") & IS_COMPLETE),
    ("log of the monitor, logic alone", pl.col("model") == "monitor"),
    ("log of the monitor, own bounds", pl.col("model") == "monitor_bounds"),
)
"""What the reader calls a kind of log, and which answers are to it."""

LOG_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String,
        "format": pl.String,
        "kind": pl.String,
        "setting": pl.String,
        "scenario": pl.String,
        "category": pl.String,
        "prediction": pl.String,
        "predicted_cause": pl.String,
        "cause": pl.String,
    }
)
"""What is read of the answers to logs."""


def answers_to_logs(answers: pl.DataFrame, setting: str) -> dict[str, list[dict[str, object]]]:
    """By scenario, a row per kind of log: the most frequent answer, and how often it is right."""
    failing = answers.filter(pl.col("kind") == "failure", pl.col("setting") == setting)
    rows: dict[str, list[dict[str, object]]] = {}
    for label, belongs in KINDS:
        of_kind = failing.filter(belongs)
        for (scenario,), part in sorted(
            of_kind.partition_by("scenario", as_dict=True).items(), key=lambda item: str(item[0])
        ):
            counts = part.group_by("prediction").len().sort(["len", "prediction"], descending=True)
            rows.setdefault(str(scenario), []).append(
                {
                    "label": label,
                    "answers": part.height,
                    "answer": counts["prediction"][0],
                    "share": round(counts["len"][0] / part.height, 4),
                    "right": round(_share(part, "prediction", "category"), 4),
                    "cause_right": round(_share(part, "predicted_cause", "cause"), 4),
                }
            )
    return rows


def _share(part: pl.DataFrame, column: str, true: str) -> float:
    equal = (part[column] == part[true]).fill_null(value=False)
    return float(equal.sum()) / part.height
