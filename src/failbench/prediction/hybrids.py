"""Composition: what a hybrid predicts, from what its members predicted under the same splits.

A member of a hybrid is fitted to all training runs of a fold, with the seed that it has alone, so
its predictions inside the hybrid are those of the method by itself, and are taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA, RUN_KEY
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import Route
from failbench.methods.hybrid import RoutedMethod


def compose(
    name: str,
    hybrid: RoutedMethod,
    rules: pl.DataFrame,
    members: Mapping[Route, pl.DataFrame],
) -> pl.DataFrame:
    """Predictions of a hybrid."""
    keyed = rules.with_columns(route=pl.Series(_routes(hybrid, rules), dtype=pl.String))
    parts = [keyed.filter(pl.col("route") == "rules")]
    for route, member in members.items():
        handed_on = keyed.filter(pl.col("route") == route).select(*RUN_KEY, "route")
        answered = member.drop("route").join(handed_on, on=RUN_KEY, how="inner")
        if answered.height != handed_on.height:
            raise BadInputError(
                f"predictions of the {route}",
                "run_id",
                f"{handed_on.height - answered.height} runs that {name} hands on are missing.",
                "Run the members of a hybrid over the same study before it.",
            )
        parts.append(answered.select(PREDICTION_SCHEMA.names()))
    return (
        pl.concat(part.select(PREDICTION_SCHEMA.names()) for part in parts)
        .with_columns(method=pl.lit(name))
        .cast(PREDICTION_SCHEMA)
        .sort(PREDICTION_SCHEMA.names()[:6])
    )


def _routes(hybrid: RoutedMethod, rules: pl.DataFrame) -> list[Route]:
    rows = rules.select("prediction", "confidence", "reason").iter_rows()
    return [
        hybrid.route(Diagnosis(answer, confidence, reason=reason))
        for answer, confidence, reason in rows
    ]
