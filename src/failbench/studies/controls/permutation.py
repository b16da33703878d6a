"""Scenario-level permutation test: whether the label can be predicted from given columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold

from failbench.prediction.workers import parallel_map

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class GroupedTable:
    """Columns of runs that are held against the label of their scenario.

    Attributes
    ----------
    matrix
        ``[n_runs, n_columns]``, NaN where missing.
    scenarios
        Distinct scenario names, ``[n_scenarios]``.
    categories
        Label of each scenario, ``[n_scenarios]``.
    members
        Position in ``scenarios`` of each run, ``[n_runs]``.
    """

    matrix: Floats
    scenarios: tuple[str, ...]
    categories: tuple[str, ...]
    members: Codes

    @classmethod
    def from_table(cls, table: pl.DataFrame, columns: tuple[str, ...]) -> GroupedTable:
        """Take the columns of a table with ``scenario`` and ``category``, one row a run."""
        owners = table.select("scenario", "category").unique().sort("scenario")
        scenarios = tuple(owners["scenario"])
        members = np.searchsorted(np.array(scenarios), table["scenario"].to_numpy().astype(str))
        matrix = table.select(pl.col(columns).cast(pl.Float64)).to_numpy()
        return cls(matrix, scenarios, tuple(owners["category"]), members)


@dataclass(frozen=True)
class Forest:
    """The cheap classifier of the test, and how often it is cross-validated."""

    trees: int
    folds: int
    repeats: int


def cross_validated_answers(
    table: GroupedTable, labels: npt.NDArray[np.str_], forest: Forest, seed: int
) -> npt.NDArray[np.str_]:
    """Out-of-fold answers ``[n_repeats, n_runs]`` for labels ``[n_scenarios]``.

    Folds hold whole scenarios and are stratified by the labels at hand. They are made here, anew
    for each set of labels, so that a permuted set goes through all that the true one does.
    """
    answers = np.empty((forest.repeats, len(table.members)), dtype=labels.dtype)
    splitter = RepeatedStratifiedKFold(
        n_splits=forest.folds, n_repeats=forest.repeats, random_state=seed
    )
    with warnings.catch_warnings():
        # A category may have fewer scenarios than there are folds; some folds then lack it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for index, (_, tested_scenarios) in enumerate(splitter.split(labels, labels)):
            tested = np.isin(table.members, tested_scenarios)
            imputer = SimpleImputer(strategy="median", keep_empty_features=True)
            classifier = RandomForestClassifier(forest.trees, random_state=seed + index)
            classifier.fit(
                imputer.fit_transform(table.matrix[~tested]), labels[table.members[~tested]]
            )
            answers[index // forest.folds, tested] = classifier.predict(
                imputer.transform(table.matrix[tested])
            )
    return answers


def balanced_accuracy(
    table: GroupedTable, labels: npt.NDArray[np.str_], answers: npt.NDArray[np.str_]
) -> float:
    """Mean over labels of the mean over their scenarios of the share of right answers."""
    right = (answers == labels[table.members]).mean(axis=0)  # [n_runs]
    runs = np.bincount(table.members)
    by_scenario = np.bincount(table.members, weights=right) / runs
    return float(np.mean([by_scenario[labels == one].mean() for one in np.unique(labels)]))


def permuted_scores(
    table: GroupedTable, forest: Forest, permutations: int, seed: int, workers: int
) -> Floats:
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


def permutation_p(observed: float, permuted: Floats) -> float:
    """One-sided p of a permutation test, counting the observed labelling as one of them.

    Phipson and Smyth (2010): (1 + number at least as large) / (1 + number of permutations), which
    is never zero.
    """
    at_least = np.sum(permuted >= observed - 1e-12)
    return float((1 + at_least) / (1 + len(permuted)))
