"""Shapes: what the leading terms of the boosting machine add, over the values of their features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from failbench.methods.boosting_machine import EbmSettings, ebm
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.studies.importance.measure import built_in_importance

SHAPE_SCHEMA = pl.Schema(
    {
        "rank": pl.Int64,
        "feature": pl.String,
        "contribution": pl.Float64,
        "category": pl.String,
        "low": pl.Float64,
        "high": pl.Float64,
        "score": pl.Float64,
        "sd": pl.Float64,
        "runs": pl.Int64,
    }
)
"""Per leading feature, category and bin of values from ``low`` to ``high``."""


def leading_shapes(
    failures: pl.DataFrame,
    settings: EbmSettings,
    features: tuple[str, ...],
    seed: int,
    count: int,
) -> pl.DataFrame:
    """Fit the machine to all runs of the study and read off its leading terms."""
    runs = LabelledRuns.from_table(failures)
    method = ebm(settings, features, seed).fit(runs.frame, runs.labels, groups=runs.groups)
    machine = method.pipeline_["classify"]
    contributions = built_in_importance(method)
    rows = []
    for rank, term in enumerate(np.argsort(-contributions, kind="stable")[:count], start=1):
        lowest, highest = machine.feature_bounds_[term]
        edges = np.array([lowest, *machine.bins_[term][0], highest])
        inner = slice(1, -1)  # the first bin is for missing values, the last for unknown ones
        scores = machine.term_scores_[term][inner]
        deviations = machine.standard_deviations_[term][inner]
        for position, category in enumerate(machine.classes_):
            for number, (low, high) in enumerate(pairwise(edges)):
                rows.append(
                    {
                        "rank": rank,
                        "feature": features[term],
                        "contribution": float(contributions[term]),
                        "category": str(category),
                        "low": float(low),
                        "high": float(high),
                        "score": float(scores[number, position]),
                        "sd": float(deviations[number, position]),
                        "runs": len(runs.labels),
                    }
                )
    return pl.DataFrame(rows, schema=SHAPE_SCHEMA)
