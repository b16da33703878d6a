"""Results: how many crashes are foreseen, with intervals by resampling pairs.

The two notebooks of a pair are drawn together, as they differ by one edit. Near one, at nought,
and where a share is of few notebooks because few crashes are foreseen, Wilson's interval takes the
place of BCa, with as many units as there are pairs, or notebooks if these are fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.statistics.bootstrap import resample
from failbench.statistics.intervals import ScenarioIntervalSettings, wilson
from failbench.statistics.row_weights import Weights, single_seeds
from failbench.studies.crash_prediction.counted import (
    ALARMS,
    ANSWERED,
    ANSWERED_RIGHT,
    ASKED,
    HITS,
    NAMED,
    SILENT,
    Counted,
)

Score = Callable[[Array], tuple[Array, Array]]
"""From sums ``[..., n_counts]`` to a part and a whole ``[...]``, whose ratio is the figure."""


def _crashes(sums: Array) -> Array:
    """Notebooks that crash: a half, as each pair has one."""
    return np.asarray(sums[..., ASKED] / 2)


SCORES: Final[Mapping[str, Score]] = {
    "accuracy": lambda sums: (sums[..., HITS] + sums[..., SILENT], sums[..., ASKED]),
    "precision": lambda sums: (sums[..., HITS], sums[..., HITS] + sums[..., ALARMS]),
    "recall": lambda sums: (sums[..., HITS], _crashes(sums)),
    "f1": lambda sums: (2 * sums[..., HITS], sums[..., HITS] + sums[..., ALARMS] + _crashes(sums)),
    "alarms": lambda sums: (sums[..., ALARMS], _crashes(sums)),
    "named": lambda sums: (sums[..., NAMED], _crashes(sums)),
    "named_accuracy": lambda sums: (sums[..., NAMED] + sums[..., SILENT], sums[..., ASKED]),
    "answered": lambda sums: (sums[..., ANSWERED], sums[..., ASKED]),
    "accuracy_answered": lambda sums: (sums[..., ANSWERED_RIGHT], sums[..., ANSWERED]),
}
"""What is reported. ``alarms`` is the share of mended notebooks of which a crash is foreseen,
``named`` that of crashes whose exception is named, ``named_accuracy`` counts a crash as told right
only so, ``accuracy_answered`` is of those about which something is said."""

ESTIMATE_SCHEMA: Final = pl.Schema(
    {
        "predictor": pl.String(),
        "arm": pl.String(),
        "metric": pl.String(),
        "value": pl.Float64(),  # null of nothing
        "ci_low": pl.Float64(),
        "ci_high": pl.Float64(),
        "n": pl.Int64(),  # notebooks that the figure is a share of
        "pairs": pl.Int64(),
    }
)


def estimates(counted: Sequence[Counted], settings: ScenarioIntervalSettings) -> pl.DataFrame:
    """Every score of every predictor and arm, all from the same resamples."""
    n_pairs = len(counted[0].pairs)
    counts = np.stack([each.counts for each in counted])

    def figures(weights: Weights) -> Array:
        sums: Array = np.asarray(np.tensordot(weights[0], counts, axes=([-1], [1])), np.float64)
        ratios = [_ratio(*score(sums)) for score in SCORES.values()]
        return np.asarray(np.concatenate([np.moveaxis(ratio, -1, 0) for ratio in ratios]))

    resampled = resample(single_seeds([n_pairs]), figures, settings)
    values = figures([np.ones(n_pairs)])
    rows = []
    for place, (metric, score) in enumerate(SCORES.items()):
        for number, each in enumerate(counted):
            position = place * len(counted) + number
            whole = int(score(each.counts.sum(axis=0))[1])
            value = float(values[position]) if whole else None
            low, high = None, None
            if value is not None:
                low, high, _ = resampled.number(position, value)
                few = whole < settings.wilson_below
                if metric != "f1" and (few or value == 0 or value >= settings.wilson_from):
                    low, high = wilson(value, min(whole, n_pairs), settings.confidence)
            rows.append((each.predictor, each.arm, metric, value, low, high, whole, n_pairs))
    return pl.DataFrame(rows, schema=ESTIMATE_SCHEMA, orient="row")


def _ratio(part: Array, whole: Array) -> Array:
    """A share; 0 of nothing, which resamples of few may hold."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
