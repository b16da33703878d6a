"""Neighbours: which other runs look most like a run, to a reader of its features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from failbench.errors import BadInputError
from failbench.methods.tuned_classifier import imputed
from failbench.prediction.labelled_runs import LabelledRuns

NEIGHBOUR_SCHEMA = pl.Schema(
    {
        "scenario": pl.String,
        "rank": pl.Int32,
        "neighbour": pl.String,
        "neighbour_category": pl.String,
        "distance": pl.Float64,
    }
)


def nearest_scenarios(
    failures: pl.DataFrame, features: Sequence[str], count: int, *, labelled: bool = False
) -> pl.DataFrame:
    """The runs of other scenarios that lie nearest to each run.

    Distances are Euclidean (Cover and Hart, 1967, "Nearest neighbor pattern classification") over
    features with missing values replaced by medians and then standardised, as logistic regression
    sees them. Labels have no part in that scale: they are only read off the neighbours.

    Parameters
    ----------
    failures
        Feature table of failing runs, one a scenario.
    features
        Columns that make the space.
    count
        Neighbours a run.
    labelled
        Whether only scenarios with a known cause may be neighbours, and no unknown ones.

    Returns
    -------
    polars.DataFrame
        Rows of ``NEIGHBOUR_SCHEMA``, the nearest of each scenario first (``rank`` 1); distances are
        in standard deviations.

    Raises
    ------
    BadInputError
        If a scenario has several runs, or there are fewer others than neighbours wanted.
    """
    runs = LabelledRuns.from_table(failures)
    if len(set(runs.groups)) < len(runs.groups):
        raise BadInputError(
            "features",
            "scenario",
            "a scenario has several runs.",
            "Take one architecture, one optimizer and one seed.",
        )
    allowed = runs.labels != "unknown" if labelled else np.ones(len(runs.labels), dtype=np.bool_)
    if allowed.sum() <= count:
        raise BadInputError(
            "features",
            "scenario",
            f"there are {allowed.sum()} scenarios to be near to, too few for {count} neighbours.",
            "Record more scenarios, or ask for fewer neighbours.",
        )
    space = Pipeline([("impute", imputed(features)), ("scale", StandardScaler())])
    points = space.fit_transform(runs.frame)
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    distances[:, ~allowed] = np.inf
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
    table = pl.DataFrame(
        {
            "scenario": runs.groups.astype(str).repeat(count),
            "rank": np.tile(np.arange(1, count + 1), len(runs.groups)),
            "neighbour": runs.groups[nearest.ravel()].astype(str),
            "neighbour_category": runs.labels[nearest.ravel()].astype(str),
            "distance": np.take_along_axis(distances, nearest, axis=1).ravel(),
        }
    )
    return table.cast(NEIGHBOUR_SCHEMA).sort("scenario", "rank")
