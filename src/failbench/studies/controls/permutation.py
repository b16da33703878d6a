"""Permutations: what a forest answers for true labels, and scores for permuted ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold

from failbench.arrays import Array, Mask
from failbench.prediction.workers import parallel_map
from failbench.studies.controls.settings import Forest

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class GroupedTable:
    """Columns of runs that are held against the label of their scenario."""

    matrix: Array
    run_ids: tuple[str, ...]
    scenarios: tuple[str, ...]
    categories: tuple[str, ...]
    members: Codes

    @classmethod
    def from_table(cls, table: pl.DataFrame, columns: tuple[str, ...]) -> GroupedTable:
        """Take columns of a table per run with ``run_id``, ``scenario`` and ``category``."""
        owners = table.select("scenario", "category").unique().sort("scenario")
        scenarios = tuple(owners["scenario"])
        members = np.searchsorted(np.array(scenarios), table["scenario"].to_numpy().astype(str))
        matrix = table.select(pl.col(columns).cast(pl.Float64)).to_numpy()
        run_ids, categories = tuple(table["run_id"]), tuple(owners["category"])
        return cls(matrix, run_ids, scenarios, categories, members)


def control_folds(
    table: GroupedTable, labels: npt.NDArray[np.str_], forest: Forest, seed: int
) -> Iterator[tuple[int, int, Mask]]:
    """Repeat, fold, and of each run whether it is tested there.

    Folds hold whole scenarios and are stratified by the labels at hand. They are made anew for each
    set of labels, so that a permuted set goes through all that the true one does.
    """
    splitter = RepeatedStratifiedKFold(
        n_splits=forest.folds, n_repeats=forest.repeats, random_state=seed
    )
    with warnings.catch_warnings():
        # A category may have fewer scenarios than there are folds; some folds then lack it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(labels, labels))
    for index, (_, tested) in enumerate(splits):
        yield index // forest.folds, index % forest.folds, np.isin(table.members, tested)


def cross_validated_answers(
    table: GroupedTable, labels: npt.NDArray[np.str_], forest: Forest, seed: int
) -> npt.NDArray[np.str_]:
    """Out-of-fold answers ``[n_repeats, n_runs]`` for labels ``[n_scenarios]``."""
    answers = np.empty((forest.repeats, len(table.members)), dtype=labels.dtype)
    for repeat, fold, tested in control_folds(table, labels, forest, seed):
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        classifier = RandomForestClassifier(
            forest.trees, random_state=seed + repeat * forest.folds + fold
        )
        classifier.fit(imputer.fit_transform(table.matrix[~tested]), labels[table.members[~tested]])
        answers[repeat, tested] = classifier.predict(imputer.transform(table.matrix[tested]))
    return answers


def balanced_accuracy(
    table: GroupedTable, labels: npt.NDArray[np.str_], answers: npt.NDArray[np.str_]
) -> float:
    """Mean over labels of the mean over their scenarios of the share of right answers."""
    right = (answers == labels[table.members]).mean(axis=0)  # [n_runs]
    runs = np.bincount(table.members)
    by_scenario = np.bincount(table.members, weights=right) / runs
    return float(np.mean([by_scenario[labels == label].mean() for label in np.unique(labels)]))


def permuted_scores(
    table: GroupedTable, forest: Forest, permutations: int, seed: int, workers: int
) -> Array:
    """Balanced accuracies ``[permutations]`` with labels permuted over whole scenarios."""
    tasks = [(table, forest, seed, index) for index in range(1, permutations + 1)]
    return np.array(parallel_map(_permuted_score, tasks, workers))


def _permuted_score(table: GroupedTable, forest: Forest, seed: int, index: int) -> float:
    rng = np.random.default_rng([seed, index])
    labels = rng.permutation(np.array(table.categories))
    answers = cross_validated_answers(table, labels, forest, forest_seed(seed, index))
    return balanced_accuracy(table, labels, answers)


def forest_seed(seed: int, index: int) -> int:
    """Seed of folds and trees under one permutation; index 0 is the true labelling."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0] // 2)
