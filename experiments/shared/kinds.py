"""What asking about other kinds of network and reporting it share."""

from typing import Final

import polars as pl

from failbench.base.records import Record

METHODS: Final = (
    "random_forest",
    "logistic_regression",
    "ebm",
    "learned_rules",
    "simple_rules",
)
"""Methods on the paper's features that are asked; the first decides marks."""

KIND_LABELS: Final = {"mamba": "Mamba", "cnn": "CNN", "vit": "ViT"}

_TEXT = ("run_id", "kind", "scenario", "category", "architecture", "status", "prediction")

MONITOR_SCHEMA: Final = pl.Schema({**dict.fromkeys(_TEXT, pl.String()), "seed": pl.Int32()})
"""What the package says of a monitored run of another kind, with bounds that were carried over:
``status`` without being told whether it failed, ``prediction`` the category as it was named."""

COUNT_SCHEMA: Final = pl.Schema({"kind": pl.String(), "metric": pl.String(), "value": pl.Float64()})
"""What was recorded of a kind, and how much of it passes the check of all recordings."""


class Rule(Record):
    """How a number becomes a mark: a row of ``data/kinds/rule.csv``."""

    subject: str
    mark: str
    rule: str
    threshold: str
