"""Naming: which condition made a model of a held-out seed, by its differences from healthy ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from failbench.base.arrays import Array
from failbench.neighbours.lenses.catalogue import Lens
from failbench.neighbours.lenses.looking import SAME, View

PRIMARY: Final = "nearest_centroid"  # named before any trace was looked at
Names = npt.NDArray[np.str_]


class NearestMean:
    """``NearestCentroid`` after ``StandardScaler``, ten times as fast and without warnings."""

    def fit(self, numbers: Array, classes: Names) -> NearestMean:
        """Learn means and scale; no number is the same in all rows, ``[n, n_numbers]``."""
        names, counts = np.unique(classes, return_counts=True)
        self.classes = names[np.argsort(-counts, kind="stable")]
        self.centre, self.scale = numbers.mean(axis=0), numbers.std(axis=0)
        scaled = self.scaled(numbers)
        self.means = np.stack([scaled[classes == name].mean(axis=0) for name in self.classes])
        return self

    def predict(self, numbers: Array) -> Names:
        """The nearest class of each row."""
        nearest = cdist(self.scaled(numbers), self.means).argmin(axis=1)
        return np.asarray(self.classes[nearest])

    def scaled(self, numbers: Array) -> Array:
        """Numbers in standard deviations."""
        return np.asarray((numbers - self.centre) / self.scale)


@dataclass(frozen=True)
class Origins:
    """How models were made, as arrays, ``[n_models]`` each."""

    condition: Names
    tokenizer: Names
    seed: npt.NDArray[np.int64]
    healthy: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, models: pl.DataFrame, healthy: str) -> Origins:
        """Of a table with a row for each model."""
        condition, tokenizer, seed = (
            np.array(models[name].to_list()) for name in ("condition", "tokenizer", "seed")
        )
        return cls(condition, tokenizer, seed, condition == healthy)


def classifiers(trees: int, seed: int) -> Mapping[str, Callable[[], Any]]:
    """What names conditions, with settings that nothing was tried for; the primary one first."""
    return {
        PRIMARY: NearestMean,
        "logistic_regression": lambda: make_pipeline(
            StandardScaler(), LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000)
        ),
        "random_forest": lambda: RandomForestClassifier(trees, random_state=seed, n_jobs=1),
    }


def named(
    numbers: Array, origins: Origins, build: Callable[[], Any], among: Sequence[str] | None = None
) -> Names:
    """What each model is named without its seed, ``[n_models]``: the usual one if all are equal."""
    chosen = np.isin(origins.condition, among or origins.condition)
    answers = np.full_like(origins.condition, "")
    for seed in np.unique(origins.seed):
        train = origins.seed != seed
        learnt, held_out = chosen & train, chosen & ~train
        differences = from_healthy(numbers, origins, train)
        varied = differences[learnt].std(axis=0) > 0
        if varied.any():
            model = build().fit(differences[learnt][:, varied], origins.condition[learnt])
            answers[held_out] = model.predict(differences[held_out][:, varied])
        elif among is None:
            names, counts = np.unique(origins.condition[learnt], return_counts=True)
            answers[held_out] = names[counts.argmax()]
    return answers


def from_healthy(numbers: Array, origins: Origins, train: npt.NDArray[np.bool_]) -> Array:
    """Numbers less those of healthy training models of the tokenizer, ``[n_models, n_numbers]``."""
    differences = np.empty_like(numbers)
    for tokenizer in np.unique(origins.tokenizer):
        of_tokenizer = origins.tokenizer == tokenizer
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
            healthy = np.nanmean(numbers[of_tokenizer & origins.healthy & train], axis=0)
        differences[of_tokenizer] = numbers[of_tokenizer] - healthy
    return np.nan_to_num(differences).round(SAME)


def told_apart(numbers: Array, origins: Origins, build: Callable[[], Any]) -> set[frozenset[str]]:
    """Pairs of conditions of which every model is given to the right one of the two."""
    pairs = set()
    for pair in combinations(sorted(set(origins.condition.tolist())), 2):
        chosen = np.isin(origins.condition, pair)
        answers = named(numbers, origins, build, pair)
        if (answers[chosen] == origins.condition[chosen]).all():
            pairs.add(frozenset(pair))
    return pairs


def vectors(views: Sequence[View], lenses: Sequence[Lens]) -> Array:
    """All numbers of lenses, ``[1 + resamples, n_models, n_numbers]``: the sample first, or NaN."""
    draws = [
        measure.draws
        for each in views
        for lens in lenses
        for measure in each.looks[lens].measures.values()
    ]
    n_models = len({each.part.model for each in views})
    return np.stack(draws, axis=1).reshape(len(draws[0]), n_models, -1)
