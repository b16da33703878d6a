"""Agreement: how often two methods give a run the same answer, right or wrong."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from failbench.records import Record

POINTS_SCHEMA = pl.Schema(
    {"left": pl.String, "right": pl.String, "value": pl.Float64, "n": pl.Int64}
)


class AgreementSettings(Record):
    """Whose answers are compared; the section ``agreement`` of params.yaml."""

    feature_set: str
    left_out: tuple[str, ...] = ()


def agreement(predictions: pl.DataFrame, settings: AgreementSettings) -> pl.DataFrame:
    """Share of runs that two methods answer alike, mean over repeats, of every two methods.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one study.
    settings
        Feature set, and methods that are left out.

    Returns
    -------
    polars.DataFrame
        Rows of ``POINTS_SCHEMA``, keyed by (``left``, ``right``), of which ``left`` comes first in
        the alphabet; ``n`` is the number of scenarios.
    """
    asked = predictions.filter(
        pl.col("feature_set") == settings.feature_set,
        ~pl.col("method").is_in(settings.left_out),
    )
    answers = asked.pivot("method", index=["repeat", "run_id", "scenario"], values="prediction")
    rows = []
    for left, right in combinations(sorted(set(asked["method"])), 2):
        both = answers.drop_nulls([left, right])
        alike = both.group_by("repeat").agg(value=(pl.col(left) == pl.col(right)).mean())
        rows.append((left, right, alike["value"].mean(), both["scenario"].n_unique()))
    return pl.DataFrame(rows, schema=POINTS_SCHEMA, orient="row")
