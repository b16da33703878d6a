"""Stage measure_external_default: answers to the runs of DEFault's tables, by every protocol.

Everything is answered out of sample, row by row. Folds that are grouped keep the rows of a group on
one side. The tables do not say which rows are of one program and session; both ways to guess are
ours. Rows of one program lie near one another in a file, so that contiguous blocks hold most of
them; runs of one session share what their machine was busy with, so that clusters of the host's
columns do. A block may cut a program in two or hold several, and so may a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from failbench.base import measuring as st
from failbench.features.feature import CEILING
from failbench.methods import classifiers
from failbench.methods.boosting_machine import GroupBaggedBoosting, ebm
from failbench.methods.forest import Forest
from failbench.methods.learned_rules import learned_rules
from failbench.methods.tuned_classifier import TunedClassifier
from failbench.neighbours.external import (
    DETECTION,
    LABEL,
    POSITIVES,
    ColumnNote,
    ReleasedTables,
    our_features,
    read_released,
    simple_answers,
)
from shared import external_default as external
from shared.external_default import ExternalDefaultDesign

RELEASED = Path("data/external/default")
MEASUREMENTS = Path("data/measurements/external_default")

Condition = tuple[str, str, str, str]
"""A task, a protocol, columns and a method."""

Positions = npt.NDArray[np.intp]
Fold = tuple[Positions, Positions]
"""Rows to fit, and rows to answer."""


def conditions(design: ExternalDefaultDesign) -> Iterator[Condition]:
    """Every condition that is asked."""
    tasks = (DETECTION, external.CATEGORY)
    grouped = [f"{way}_{design.groups}" for way in external.GROUPINGS]
    others = [f"{way}_{number}" for way in external.GROUPINGS for number in design.other_groups]
    folds = (external.SHUFFLED, *grouped)
    yield from product(
        [DETECTION],
        [external.PRINTED, external.WITH_CRASHED],
        external.COLUMN_SETS,
        [external.THEIR_FOREST],
    )
    yield from product(tasks, folds, external.COLUMN_SETS, [external.THEIR_FOREST])
    yield from product(tasks, others, ["all"], [external.THEIR_FOREST])
    yield from product(tasks, folds, ["all"], external.HOUSE_METHODS)
    yield from product([DETECTION], folds, ["all"], [external.SIMPLE_RULES])
    yield from product(POSITIVES, [external.PRINTED], ["all", "host"], [external.THEIR_FOREST])
    yield from product(POSITIVES, grouped, ["all"], [external.THEIR_FOREST])


# Groups


def contiguous_blocks(parts: Sequence[int], groups: int, least: int) -> npt.NDArray[np.intp]:
    """Blocks of rows that follow one another, of nearly equal size, none across parts.

    >>> contiguous_blocks([4, 2], 3, least=1)
    array([0, 0, 1, 1, 2, 2])
    """
    total, before = sum(parts), 0
    numbers = []
    for rows in parts:
        blocks = max(least, round(groups * rows / total))
        numbers.append(before + np.arange(rows) * blocks // rows)
        before += blocks
    return np.concatenate(numbers)


def host_clusters(task: external.Task, groups: int, seed: int) -> npt.NDArray[np.intp]:
    """Clusters of rows by the standardised columns of the host; -1 for crashed runs.

    k-means (Lloyd, 1982, "Least squares quantization in PCM") with one start.
    """
    host = task.rows.loc[~task.crashed, list(task.host)].to_numpy(dtype=np.float64)
    if not np.isfinite(host).all():
        problem = f"of {task.name} are not all finite."
        raise st.BadInputError(RELEASED, ", ".join(task.host), problem, "Restore it.")
    means = KMeans(groups, n_init=1, random_state=seed)
    clusters = np.full(len(task.rows), -1)
    clusters[~task.crashed] = means.fit_predict(StandardScaler().fit_transform(host))
    return clusters


def groups_of(
    tasks: Mapping[str, external.Task],
    released: ReleasedTables,
    numbers: Sequence[int],
    folds: int,
    seed: int,
) -> pl.DataFrame:
    """Groups of all tasks, both ways, in each number of groups.

    The tables of the second level take those of the seven categories together, of which every row
    of theirs is one.
    """
    of_category = [int((released.categories[LABEL] == label).sum()) for label in POSITIVES.values()]
    parts = {DETECTION: ([released.detection.height], 1), external.CATEGORY: (of_category, folds)}
    tables = []
    for (name, (sizes, least)), number in product(parts.items(), numbers):
        blocks = contiguous_blocks(sizes, number, least)
        clusters = host_clusters(tasks[name], number, seed)
        for way, found in (("blocks", blocks), ("clusters", clusters)):
            keys = {"task": name, "grouping": way, "groups": number}
            rows = {**keys, "row": np.arange(len(found)), "group": found}
            table = pl.DataFrame(rows, schema=external.GROUP_SCHEMA)
            tables.append(table.filter(pl.col("group") >= 0))
    known = pl.concat(tables).filter(task=external.CATEGORY, groups=numbers[0])
    return pl.concat([*tables, *(of_second_level(name, released, known) for name in POSITIVES)])


def of_second_level(name: str, released: ReleasedTables, groups: pl.DataFrame) -> pl.DataFrame:
    """The groups of the rows of a table, which are rows of the seven categories together."""
    table = released.tables[name].with_row_index("row")
    known = released.categories.with_row_index("known")
    on = released.categories.columns
    matched = table.join(known, on=on, how="left", nulls_equal=True, maintain_order="left")
    if matched["known"].null_count() or matched.height != table.height:
        problem = "has rows that are no positive rows of one of the seven tables."
        raise st.BadInputError(f"tables/{name}.parquet", "(rows)", problem, "Restore it with git.")
    return (
        matched.select(pl.col("row", "known").cast(pl.Int32))
        .join(groups.rename({"row": "known"}), on="known", maintain_order="left")
        .with_columns(task=pl.lit(name))
        .select(external.GROUP_SCHEMA.names())
        .sort("grouping", "groups", "row")
    )


# The authors' protocol, step by step as their program has it


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """How the authors make finite numbers of their tables.

    What is missing becomes the mean of the column, or its largest finite value where the mean is
    infinite; so does what is infinite. Then values are clipped at the quantiles 1 and 99 %. All
    three are of the rows that it is fitted to: the authors fit it to all rows, we to training rows.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's
        """Measure what values are replaced by; a column without any value becomes zero."""
        self.largest_ = X.where(np.isfinite(X)).max().fillna(0.0)
        mean = X.mean()
        self.fill_ = mean.where(np.isfinite(mean), self.largest_)
        replaced = pd.DataFrame(self._replaced(X))
        self.low_, self.high_ = (replaced.quantile(at).to_numpy() for at in (0.01, 0.99))
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Replace and clip."""
        values = np.clip(self._replaced(X), self.low_, self.high_)
        return pd.DataFrame(values, X.index, X.columns)

    def _replaced(self, X: pd.DataFrame) -> st.Array:
        # As arrays, because pandas aligns columns with a series at ten times the cost.
        values = X.to_numpy(dtype=float)
        filled = np.where(np.isnan(values), self.fill_.to_numpy(), values)
        return np.where(np.isfinite(filled), filled, self.largest_.to_numpy())


def printed_answers(
    task: external.Task, column_set: str, protocol: external.PrintedProtocol
) -> tuple[Any, st.Labels]:
    """Prepare and scale all rows, split them at random, select columns, search, and answer."""
    assert task.positive is not None
    positive = task.labels == task.positive
    negative = next(label for label in task.labels if label != task.positive)
    prepared = Preparation().fit_transform(task.rows[task.columns(column_set)])
    values = StandardScaler().fit_transform(prepared)
    trained, tested = train_test_split(
        np.arange(len(values)), test_size=protocol.test_share, random_state=protocol.split_seed
    )
    labels = positive[trained].astype(int)
    first = RandomForestClassifier(protocol.selection_trees, random_state=protocol.split_seed)
    importance = first.fit(values[trained], labels).feature_importances_
    selected = np.argsort(importance)[::-1][: protocol.selected]
    forest = searched(protocol).fit(values[np.ix_(trained, selected)], labels)
    named = forest.predict(values[np.ix_(tested, selected)]).astype(bool)
    return tested, np.where(named, task.positive, negative).astype(object)


def searched(protocol: external.PrintedProtocol) -> Any:
    """The forest, or the search over its grid where this has several settings."""
    searched_for = ("max_depth", "min_samples_split", "min_samples_leaf", "max_features")
    grid = {name: getattr(protocol, name) for name in searched_for}
    grid = {"n_estimators": protocol.trees, **grid}
    forest = RandomForestClassifier(random_state=protocol.split_seed)
    if all(len(values) == 1 for values in grid.values()):
        return forest.set_params(**{name: values[0] for name, values in grid.items()})
    return GridSearchCV(forest, grid, cv=protocol.inner_folds)


# Folds, in which all is fitted to training rows

OURS: dict[str, Callable[..., TunedClassifier]] = {
    "learned_rules": learned_rules,
    "logistic_regression": classifiers.logistic_regression,
    "decision_tree": classifiers.decision_tree,
    "random_forest": classifiers.random_forest,
    "lightgbm": classifiers.lightgbm,
    "ebm": ebm,
}


def classifier(name: str, columns: list[str], design: ExternalDefaultDesign) -> Pipeline:
    """An unfitted classifier, which takes the columns as they are.

    Of ours values are bounded as our features are, and the method imputes what is missing; its
    search, which knows our categories alone, is not used.
    """
    if name == external.THEIR_FOREST:
        forest = Forest(design.trees, random_state=design.seed)
        return Pipeline([("prepare", Preparation()), ("classify", forest)])
    tuned = OURS[name](getattr(design.methods, name), tuple(columns), design.seed)
    single = {key: values[0] for key, values in tuned.grid.items()}
    pipeline = clone(tuned.pipeline).set_params(**single)
    return Pipeline([("bound", FunctionTransformer(bounded)), *pipeline.steps])


def bounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Values no larger than the ceiling of our features, which infinite ones become."""
    return rows.clip(-CEILING, CEILING)


def folds_of(
    tasks: Mapping[str, external.Task], groups: pl.DataFrame, design: ExternalDefaultDesign
) -> dict[tuple[str, str], tuple[Positions | None, list[Fold]]]:
    """Folds of each task and protocol, with the group of every row where they keep groups."""
    folds: dict[tuple[str, str], tuple[Positions | None, list[Fold]]] = {}

    def split(
        splitter: Any, task: external.Task, rows: Positions, of_rows: Any = None
    ) -> list[Fold]:
        labels = task.labels[rows].astype(str)
        splits = splitter.split(rows, labels, None if of_rows is None else of_rows[rows])
        return [(rows[trained], rows[tested]) for trained, tested in splits]

    shuffled, together = (
        kind(design.folds, shuffle=True, random_state=design.seed)
        for kind in (StratifiedKFold, StratifiedGroupKFold)
    )
    healthy = {name: np.flatnonzero(~task.crashed) for name, task in tasks.items()}
    for name, task in tasks.items():
        folds[name, external.WITH_CRASHED] = (
            None,
            split(shuffled, task, np.arange(len(task.labels))),
        )
        folds[name, external.SHUFFLED] = None, split(shuffled, task, healthy[name])
    for (name, way, number), part in groups.group_by("task", "grouping", "groups"):
        task = tasks[str(name)]
        of_rows = np.full(len(task.labels), -1)
        of_rows[part["row"].to_numpy()] = part["group"].to_numpy()
        splits = split(together, task, healthy[task.name], of_rows)
        folds[task.name, f"{way}_{number}"] = of_rows, splits
    return folds


def answers_of(
    condition: Condition,
    task: external.Task,
    fold: Fold | None,
    groups: Positions | None,
    design: ExternalDefaultDesign,
    rules: st.SimpleRulesSettings,
    notes: tuple[ColumnNote, ...],
) -> pl.DataFrame:
    """The answers of one condition, in one fold unless its protocol has a split of its own."""
    *_, column_set, method = condition
    if fold is None:
        tested, named = printed_answers(task, column_set, design.printed)
    else:
        trained, tested = fold
        labels = task.labels[trained]
        if method == external.SIMPLE_RULES:
            features = our_features(task.rows, notes)
            named = simple_answers(features.iloc[trained], labels, features.iloc[tested], rules)
        else:
            columns = task.columns(column_set)
            pipeline, values = classifier(method, columns, design), task.rows[columns]
            # that one bags whole groups, where there are any
            bags = isinstance(pipeline["classify"], GroupBaggedBoosting)
            options = {"classify__groups": groups[trained]} if bags and groups is not None else {}
            pipeline.fit(values.iloc[trained], labels.astype(str), **options)
            named = pipeline.predict(values.iloc[tested])
    keys = dict(zip(external.CONDITION, condition, strict=True))
    return pl.DataFrame(
        {**keys, "row": tested, "answer": named.astype(str)}, schema=external.ANSWER_SCHEMA
    )


def measure(
    released: ReleasedTables,
    design: ExternalDefaultDesign,
    rules: st.SimpleRulesSettings,
    workers: int = 1,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers under all conditions, and how rows are grouped."""
    tasks = external.tasks_of(released)
    numbers = (design.groups, *design.other_groups)
    groups = groups_of(tasks, released, numbers, design.folds, design.seed)
    folds = folds_of(tasks, groups, design)
    work: list[tuple[Any, ...]] = []
    for condition in conditions(design):
        task, protocol, *_ = condition
        of_rows, splits = (None, [None]) if protocol == external.PRINTED else folds[task, protocol]
        shared = (of_rows, design, rules, released.columns)
        work += [(condition, tasks[task], fold, *shared) for fold in splits]
    answers = pl.concat(st.parallel_map(answers_of, work, workers))
    return answers.sort(external.ANSWER_SCHEMA.names()[:-1]), groups


def main() -> None:
    design = st.read_section("external_default", ExternalDefaultDesign)
    rules = st.read_section("simple_rules", st.SimpleRulesSettings)
    answers, groups = measure(read_released(RELEASED), design, rules, st.workers())
    st.write_parquet(answers, MEASUREMENTS / "answers.parquet")
    st.write_parquet(groups, MEASUREMENTS / "groups.parquet")
    counted = answers.group_by("task", maintain_order=True).len("answers")
    st.print_table(counted.columns, counted.rows())


if __name__ == "__main__":
    st.run(main)
