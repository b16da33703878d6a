"""Neighbours: which other scenarios look most like a scenario, to a reader of its features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from failbench.base.errors import BadInputError
from failbench.base.predictions import NEIGHBOUR_SCHEMA
from failbench.methods.tuned_classifier import imputed
from failbench.prediction.nested_cv import LabelledRuns


def nearest_scenarios(
    failures: pl.DataFrame, features: Sequence[str], count: int, *, labelled: bool = False
) -> pl.DataFrame:
    """The other scenarios that lie nearest to each scenario.

    The distance between two scenarios is the mean over all pairs of their runs (the group average
    of Sokal and Michener, 1958, "A statistical method for evaluating systematic relationships").
    Distances between runs are Euclidean (Cover and Hart, 1967, "Nearest neighbor pattern
    classification") over features with missing values replaced by medians and then standardised, as
    logistic regression sees them. Labels have no part in that scale: they are only read off the
    neighbours.
    """
    runs = LabelledRuns.from_table(failures)
    scenarios, first_runs, scenario_of_run = np.unique(
        runs.groups.astype(str), return_index=True, return_inverse=True
    )
    categories = runs.labels[first_runs].astype(str)
    allowed = categories != "unknown" if labelled else np.ones(len(scenarios), dtype=np.bool_)
    if allowed.sum() <= count:
        raise BadInputError(
            "features",
            "scenario",
            f"there are {allowed.sum()} scenarios to be near to, too few for {count} neighbours.",
            "Record more scenarios, or ask for fewer neighbours.",
        )
    space = Pipeline([("impute", imputed(features)), ("scale", StandardScaler())])
    points = space.fit_transform(runs.frame)
    shares = np.eye(len(scenarios))[scenario_of_run]
    shares /= shares.sum(axis=0)
    # rounded, so that ties are broken by name on every processor
    distances = (shares.T @ cdist(points, points) @ shares).round(9)
    np.fill_diagonal(distances, np.inf)
    distances[:, ~allowed] = np.inf
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
    table = pl.DataFrame(
        {
            "scenario": scenarios.repeat(count),
            "rank": np.tile(np.arange(1, count + 1), len(scenarios)),
            "neighbour": scenarios[nearest.ravel()],
            "neighbour_category": categories[nearest.ravel()],
            "distance": np.take_along_axis(distances, nearest, axis=1).ravel(),
        }
    )
    return table.cast(NEIGHBOUR_SCHEMA).sort("scenario", "rank")
