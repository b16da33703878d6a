"""Comparisons: what a predictor gains in one arm over another, on the same notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from statsmodels.stats.multitest import multipletests

from failbench.arrays import Array
from failbench.statistics.bootstrap import resample
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.row_weights import Weights, single_seeds
from failbench.statistics.textbook_tests import discordant
from failbench.studies.crash_prediction.counted import ASKED, HITS, NAMED, SILENT, Counted

CONTRASTS: Final = (
    ("structural", "code"),
    ("type", "code"),
    ("value", "code"),
    ("all", "code"),
    ("other", "code"),
    ("all", "other"),
)
"""Arms that are compared: with information and without, and the right one and another's."""

GAINS: Final[Mapping[str, int]] = {"accuracy": HITS, "named_accuracy": NAMED}
"""What is compared, and what counts as right of a notebook that crashes."""


@dataclass(frozen=True)
class Contrast:
    """How a predictor does in two arms."""

    predictor: str
    metric: str
    left: str
    right: str
    difference: float
    ci_low: float
    ci_high: float
    left_only: int
    right_only: int
    p: float
    p_holm: float
    pairs: int


def contrasts(
    rows: pl.DataFrame, counted: Sequence[Counted], settings: ScenarioIntervalSettings
) -> tuple[Contrast, ...]:
    """Compare the arms of every predictor that was asked in both."""
    by_key = {(each.predictor, each.arm): each for each in counted}
    wanted = [
        (predictor, left, right)
        for predictor in dict.fromkeys(each.predictor for each in counted)
        for left, right in CONTRASTS
        if {(predictor, left), (predictor, right)} <= by_key.keys()
    ]
    return tuple(
        contrast
        for metric, counts in GAINS.items()
        for contrast in _contrasts(metric, counts, wanted, by_key, rows, settings)
    )


def _contrasts(
    metric: str,
    right_of_crash: int,
    wanted: Sequence[tuple[str, str, str]],
    by_key: Mapping[tuple[str, str], Counted],
    rows: pl.DataFrame,
    settings: ScenarioIntervalSettings,
) -> list[Contrast]:
    if not wanted:
        return []
    apart = np.stack(
        [
            _right(by_key[predictor, left], right_of_crash)
            - _right(by_key[predictor, right], right_of_crash)
            for predictor, left, right in wanted
        ]
    )
    n_pairs = apart.shape[1]
    asked = by_key[wanted[0][:2]].counts[0, ASKED]

    def figures(weights: Weights) -> Array:
        means = np.tensordot(weights[0], apart, axes=([-1], [1])) / (n_pairs * asked)
        return np.moveaxis(means, -1, 0)

    resampled = resample(single_seeds([n_pairs]), figures, settings)
    values = figures([np.ones(n_pairs)])
    splits = [_discordant(rows, metric, *key) for key in wanted]
    adjusted = multipletests([p for _, _, p in splits], method="holm")[1]
    contrasts = []
    for position, (predictor, left, right) in enumerate(wanted):
        value = float(values[position])
        low, high, _ = resampled.number(position, value)
        left_only, right_only, p = splits[position]
        contrasts.append(
            Contrast(
                predictor,
                metric,
                left,
                right,
                value,
                low,
                high,
                left_only,
                right_only,
                p,
                float(adjusted[position]),
                n_pairs,
            )
        )
    return contrasts


def _right(counted: Counted, right_of_crash: int) -> Array:
    """Notebooks of each pair that are told right: ``[n_pairs]``."""
    return np.asarray(counted.counts[:, right_of_crash] + counted.counts[:, SILENT])


def _discordant(
    rows: pl.DataFrame, metric: str, predictor: str, left: str, right: str
) -> tuple[int, int, float]:
    said = pl.col("crash").fill_null(value=False)
    told = said == pl.col("crashed")
    if metric == "named_accuracy":
        named = (pl.col("exception") == pl.col("raised")).fill_null(value=False)
        told &= ~pl.col("crashed") | named
    answers = (
        rows.filter(pl.col("predictor") == predictor, pl.col("arm").is_in([left, right]))
        .with_columns(told=told)
        .pivot("arm", index=["pair", "version"], values="told")
    )
    return discordant(answers, (left, right))
