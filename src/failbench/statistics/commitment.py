"""Thresholds: what the improved rules would answer at another tau, and which tau to choose.

Tau takes part in the last decision of the rules alone. What a run shows and what it is worth, C(x),
do not depend on it, nor do conflicts and missing metrics, which abstain at any C(x). So the stored
predictions tell the answer at any other tau, without a fit.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.statistics.scenario_values import right

UNCLEAR = ("conflict", "missing")
"""Reasons to abstain that no threshold lifts."""

ROUNDING = 1e-9
"""A share that misses its target by less has reached it."""


def at_threshold(predictions: pl.DataFrame, tau: float | pl.Expr) -> pl.DataFrame:
    """The answers of the improved rules, and their reasons to abstain, at another tau.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of the improved rules, at any tau.
    tau
        Least confidence to act on, above zero: at a confidence of zero all categories are equally
        probable, and what the rules would name is not known.

    Raises
    ------
    ValueError
        If tau is a number that is not above zero.
    """
    if not isinstance(tau, pl.Expr) and tau <= 0:
        raise ValueError("A threshold must be above zero.")
    probabilities = [f"p_{category}" for category in CATEGORIES]
    highest = pl.max_horizontal(probabilities)
    named = pl.coalesce(
        pl.when(pl.col(column) == highest).then(pl.lit(category))
        for column, category in zip(probabilities, CATEGORIES, strict=True)
    )
    unclear = pl.col("reason").is_in(UNCLEAR).fill_null(False)
    unsure = pl.col("confidence") < tau
    return predictions.with_columns(
        prediction=pl.when(unclear | unsure).then(pl.lit(ABSTAIN)).otherwise(named),
        reason=pl.when(unclear)
        .then("reason")
        .otherwise(pl.when(unsure).then(pl.lit("low_confidence"))),
    )


def lowest_thresholds(
    predictions: pl.DataFrame, taus: Array, precision: float, by: tuple[str, ...]
) -> pl.DataFrame:
    """The lowest tau with which the committed answers are right often enough, by group.

    It is the one that commits most often of all that reach the precision. A scenario counts as
    often as it is committed on, a share of its runs.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of the improved rules, one repeat a group.
    taus
        Thresholds to choose from, above zero.
    precision
        What is asked for: the share of committed answers that are right.
    by
        Columns that make up a group.

    Returns
    -------
    polars.DataFrame
        A row per group, sorted: ``by``, ``tau``, and its ``precision`` and ``coverage`` on these
        predictions; all three are null where no tau reaches the precision.
    """
    # At a threshold that nothing misses every confidence above zero names its category.
    answers = at_threshold(predictions, ROUNDING).with_columns(
        right=right(), share=1 / pl.len().over(*by, "scenario")
    )
    rows = []
    for key, part in answers.sort(*by).group_by(*by, maintain_order=True):
        share = part["share"].to_numpy()
        answered = (part["prediction"] != ABSTAIN).to_numpy()
        sure = part["confidence"].to_numpy() >= taus[:, None]  # [n_taus, n_predictions]
        committed = (sure & answered) @ share
        correct = (sure & answered & part["right"].to_numpy()) @ share
        reached = np.flatnonzero((committed > 0) & (correct >= (precision - ROUNDING) * committed))
        chosen: dict[str, float | None] = {"tau": None, "precision": None, "coverage": None}
        if len(reached):
            first = reached[np.argmin(taus[reached])]
            chosen["tau"] = float(taus[first])
            chosen["precision"] = float(correct[first] / committed[first])
            chosen["coverage"] = float(committed[first] / share.sum())
        rows.append(dict(zip(by, key, strict=True)) | chosen)
    schema = dict.fromkeys(("tau", "precision", "coverage"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=schema)
