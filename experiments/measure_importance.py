"""Stage measure_importance: replace signals in held-out runs, and read off the shapes of EBM.

The permutation importance of Breiman (2001, "Random forests"), on held-out runs: the features of a
unit (one feature, or a group of them together, because features that go together stand in for one
another; Gregorutti, Michel and Saint-Pierre, 2015, "Grouped variable importance with random
forests") take the values of another run. Where that run comes from is a choice. Another run of the
test fold, as Breiman has it, leaves one run in n_test as it is, on average, so that a drop is too
small by that share, and with n_test = 15 there are few values to draw. A run of the training fold
always has another scenario, and there are four times as many; nothing is fitted to them again, and
no label of theirs is used. Both are computed from the same fits; a setting names the one that is
reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

from failbench.base import measuring as st
from failbench.base.known_columns import flags_in
from failbench.features.feature_table import read_features
from failbench.methods.boosting_machine import ebm
from failbench.methods.classifiers import random_forest
from failbench.methods.tuned_classifier import TunedClassifier
from failbench.prediction.nested_cv import LabelledRuns, fold_predictions, fold_seed
from failbench.prediction.splits import FoldPlan, by_scenario
from known_runs import read_known
from shared import importance as design
from shared.importance import ImportanceDesign

KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/importance")
MEASUREMENTS = Path("data/measurements/importance")

Settings = st.RandomForestSettings | st.EbmSettings
Matrix = npt.NDArray[Any]


class Importances(NamedTuple):
    """What was measured on held-out runs and read off the fits."""

    predictions: pl.DataFrame
    replacements: pl.DataFrame
    built_in: pl.DataFrame


def units(columns: Sequence[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The features that are replaced together, by kind and name: each by itself, and each group."""
    features = {("feature", name): (name,) for name in columns}
    return features | {
        ("group", group): names for group, names in design.groups_of(columns).items()
    }


def importances(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    methods: Mapping[str, Settings],
    settings: ImportanceDesign,
    seed: int,
    workers: int = 1,
    sets: Mapping[str, tuple[str, ...]] | None = None,
) -> Importances:
    """Fit each method in each fold, as the main study does, and replace every unit in its tests."""
    taken = st.first_repeats(splits, settings.repeats, "importance.repeats")
    runs = LabelledRuns.from_table(failures)
    tasks = [
        (runs, taken, plan, feature_set, columns, method, of_method, settings, seed)
        for feature_set, columns in (sets or design.IMPORTANCE_SETS).items()
        for method, of_method in methods.items()
        for plan in by_scenario(st.NESTED_CV, taken)
    ]
    predictions, replacements, built_in = map(
        pl.concat, zip(*st.parallel_map(importance_of_fold, tasks, workers), strict=True)
    )
    return Importances(
        predictions.sort(st.PREDICTION_SCHEMA.names()[:6]),
        replacements.sort(design.REPLACEMENT_SCHEMA.names()[:8]),
        built_in.sort(design.BUILT_IN_SCHEMA.names()[:5]),
    )


def importance_of_fold(
    runs: LabelledRuns,
    splits: pl.DataFrame,
    plan: FoldPlan,
    feature_set: str,
    columns: tuple[str, ...],
    method: str,
    of_method: Settings,
    settings: ImportanceDesign,
    seed: int,
) -> Importances:
    tested, trained = plan.rows(splits, runs.table)
    of_fold = fold_seed(seed, plan.repeat, plan.fold)
    if isinstance(of_method, st.RandomForestSettings):
        estimator = random_forest(of_method, columns, of_fold)
    else:
        estimator = ebm(of_method, columns, of_fold)
    estimator.fit(runs.frame[trained], runs.labels[trained], groups=runs.groups[trained])
    predictions = fold_predictions(
        estimator, runs.table, runs.frame, tested, plan, feature_set=feature_set, method=method
    )
    replacements = replaced(estimator, runs, tested, trained, columns, plan, settings)
    built_in = pl.DataFrame({"feature": columns, "value": built_in_importance(estimator)})
    keys = {"feature_set": feature_set, "method": method, "repeat": plan.repeat, "fold": plan.fold}
    key = {name: pl.lit(value) for name, value in keys.items()}
    measured = ((replacements, design.REPLACEMENT_SCHEMA), (built_in, design.BUILT_IN_SCHEMA))
    keyed = (
        table.with_columns(**key).select(schema.names()).cast(schema) for table, schema in measured
    )
    return Importances(predictions, *keyed)


def replaced(
    estimator: TunedClassifier,
    runs: LabelledRuns,
    tested: st.Mask,
    trained: st.Mask,
    columns: tuple[str, ...],
    plan: FoldPlan,
    settings: ImportanceDesign,
) -> pl.DataFrame:
    """How often each tested run is right with each unit replaced, from either source."""
    values = runs.frame[list(columns)].to_numpy(dtype=float)
    keys = runs.table.filter(pl.Series(tested)).select("run_id", "scenario", "category")
    parts = []
    for source in design.SOURCES:
        rng = np.random.default_rng([settings.seed, plan.repeat, plan.fold])
        drawn = donors(values[tested], values[trained], source, settings.replacements, rng)
        shares = shares_right(estimator, values[tested], runs.labels[tested], columns, drawn)
        for (kind, name), share in shares.items():
            unit = {"source": pl.lit(source), "kind": pl.lit(kind), "name": pl.lit(name)}
            parts.append(keys.with_columns(**unit, correct=pl.Series(share)))
    return pl.concat(parts)


def built_in_importance(estimator: TunedClassifier) -> Matrix:
    """What a fitted method says of its features, ``[n_features]``.

    Of a forest, the mean decrease of Gini impurity, which adds up to one (Breiman, 2001); it is
    known to favour features of many values (Strobl et al., 2007, "Bias in random forest variable
    importance measures"). Of a boosting machine, the mean absolute contribution of each term over
    training runs and categories, in logits (Nori et al., 2019).
    """
    classifier = estimator.pipeline_["classify"]
    if hasattr(classifier, "term_importances"):
        # terms of single features come first, those of pairs behind them
        return np.asarray(classifier.term_importances(), dtype=float)[: classifier.n_features_in_]
    return np.asarray(classifier.feature_importances_, dtype=float)


def donors(
    tested: Matrix,
    trained: Matrix,
    source: design.Source,
    replacements: int,
    rng: np.random.Generator,
) -> Matrix:
    """Runs whose values replace those of the tested ones, ``[n_replacements, n_test, n_features]``.

    All units take theirs from the same donors, so that units differ by nothing but what is
    replaced. From the test fold they are permutations of its runs; from the training fold, runs
    drawn with replacement.
    """
    if source == "test_fold":
        return np.stack([tested[rng.permutation(len(tested))] for _ in range(replacements)])
    return np.asarray(trained[rng.integers(0, len(trained), (replacements, len(tested)))])


def shares_right(
    estimator: TunedClassifier,
    tested: Matrix,
    labels: Matrix,
    columns: Sequence[str],
    drawn: Matrix,
) -> dict[tuple[str, str], Matrix]:
    """Share of replacements after which each tested run is right, ``[n_test]`` by unit."""
    by_unit = units(columns)
    runs = np.stack(
        [np.where(np.isin(columns, members), drawn, tested) for members in by_unit.values()]
    )  # [n_units, n_replacements, n_test, n_features]
    changed = (runs != tested).any(axis=-1)  # a donor may have the same values, and flags mostly do
    predictions = np.broadcast_to(_predicted(estimator, tested, columns), changed.shape).copy()
    if changed.any():
        predictions[changed] = _predicted(estimator, runs[changed], columns)
    shares = (predictions == labels).mean(axis=1)  # [n_units, n_test]
    return dict(zip(by_unit, shares, strict=True))


def _predicted(estimator: TunedClassifier, values: Matrix, columns: Sequence[str]) -> Matrix:
    return np.asarray(estimator.predict(pd.DataFrame(values, columns=list(columns))))


def leading_shapes(
    failures: pl.DataFrame,
    settings: st.EbmSettings,
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
        rows += [
            (
                *(rank, features[term], float(contributions[term]), str(category)),
                *(float(low), float(high)),
                *(float(of[number, position]) for of in (scores, deviations)),
                len(runs.labels),
            )
            for position, category in enumerate(machine.classes_)
            for number, (low, high) in enumerate(pairwise(edges))
        ]
    return pl.DataFrame(rows, schema=design.SHAPE_SCHEMA, orient="row")


def main() -> None:
    settings = st.read_section("importance", ImportanceDesign)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    boosting = st.read_section("ebm", st.EbmSettings)
    forest = st.read_section("random_forest", st.RandomForestSettings)
    failures = study.failures(read_features())
    splits = st.read_splits()
    methods: dict[str, Settings] = {"random_forest": forest, "ebm": boosting}
    sections: dict[str, Settings] = {
        "forest_on_invariants": st.read_section("forest_on_invariants", st.RandomForestSettings),
        "ebm_on_invariants": st.read_section("ebm_on_invariants", st.EbmSettings),
    }
    asked = design.methods_asked(st.read_names("methods"))
    on_known = {name: section for name, section in sections.items() if name in asked}
    known = read_known(KNOWN, on_known)
    measured = importances(failures, splits, methods, settings, study.seed, st.workers())
    if known is not None:
        table = known.beside(failures)
        sets = {design.KNOWN_SET: flags_in(table.columns)}
        more = importances(table, splits, on_known, settings, study.seed, st.workers(), sets)
        measured = Importances(*map(pl.concat, zip(measured, more, strict=True)))
    shapes = leading_shapes(
        failures, boosting, design.IMPORTANCE_SETS["19"], study.seed, settings.shapes
    )
    for (method,), part in measured.predictions.partition_by("method", as_dict=True).items():
        st.write_parquet(part, PREDICTIONS / f"{method}.parquet")
    st.write_parquet(measured.replacements, MEASUREMENTS / "replacements.parquet")
    st.write_parquet(measured.built_in, MEASUREMENTS / "built_in.parquet")
    st.write_parquet(shapes, MEASUREMENTS / "shapes.parquet")
    st.print_accuracy(measured.predictions)


if __name__ == "__main__":
    st.run(main)
