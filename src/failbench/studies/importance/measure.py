"""Importance: what a method loses on new scenarios when some signals are replaced.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
from pydantic import Field

from failbench.arrays import Mask
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.known_columns import FLAG_KINDS, flags_in
from failbench.methods.boosting_machine import EbmSettings, ebm
from failbench.methods.classifiers import RandomForestSettings, random_forest
from failbench.methods.signal_groups import signal_groups
from failbench.methods.tuned_classifier import TunedClassifier
from failbench.prediction.fold_plans import NESTED_CV, FoldPlan, by_scenario
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import fold_predictions, fold_seed
from failbench.prediction.splits import first_repeats
from failbench.prediction.workers import parallel_map
from failbench.predictions import PREDICTION_SCHEMA
from failbench.records import Record

Source = Literal["training_fold", "test_fold"]
SOURCES: tuple[Source, ...] = ("training_fold", "test_fold")

Kind = Literal["feature", "group"]
Unit = tuple[Kind, str]
"""What is replaced together: a feature, or all features of a signal group."""

TABLE_SIX = "19+keywords+trend"
"""The features of the paper's Table 6: its list of 19 lacks two kinds of them."""

IMPORTANCE_SETS: dict[str, tuple[str, ...]] = {
    "19": FEATURE_SETS["19"],
    TABLE_SIX: (*FEATURE_SETS["19+keywords"], "perplexity_trend"),
}

METHODS = ("random_forest", "ebm")

KNOWN_SET = "invariants"
"""The flags of what the monitor knows, which stand in for features where methods read these."""

ON_KNOWN: Final = ("forest_on_invariants", "ebm_on_invariants")
"""The same two classifiers on them; asked too where they are among those of the main study."""

BROKEN, ENDED = "invariants", "ending"
"""Groups of flags: that an invariant broke, and how and in which phase the run ended."""

REPLACEMENT_SCHEMA = pl.Schema(
    {
        "feature_set": pl.String,
        "method": pl.String,
        "source": pl.String,
        "kind": pl.String,
        "name": pl.String,
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "run_id": pl.String,
        "scenario": pl.String,
        "category": pl.String,
        "correct": pl.Float64,
    }
)
"""Per held-out run and unit: ``correct`` is the share of replacements that leave it right."""

BUILT_IN_SCHEMA = pl.Schema(
    {
        "feature_set": pl.String,
        "method": pl.String,
        "feature": pl.String,
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "value": pl.Float64,
    }
)
"""Per fit and feature: the importance that the fitted method gives itself."""

Matrix = npt.NDArray[Any]


class ImportanceDesign(Record):
    """How signals are replaced; the section ``importance`` of params.yaml."""

    repeats: int = Field(ge=1)
    replacements: int = Field(ge=1)
    source: Source
    shapes: int = Field(ge=1)
    seed: int = Field(ge=0)


@dataclass(frozen=True)
class Importances:
    """What was measured on held-out runs and read off the fits."""

    predictions: pl.DataFrame
    replacements: pl.DataFrame
    built_in: pl.DataFrame

    def with_those_of(self, others: Importances) -> Importances:
        """These, and those of other methods behind them."""
        return Importances(
            pl.concat([self.predictions, others.predictions]),
            pl.concat([self.replacements, others.replacements]),
            pl.concat([self.built_in, others.built_in]),
        )


def methods_asked(methods: Iterable[str]) -> tuple[str, ...]:
    """The methods that are asked, given the section ``methods`` of params.yaml.

    >>> methods_asked(["decision_tree", "forest_on_invariants"])
    ('random_forest', 'ebm', 'forest_on_invariants')
    """
    main_study = set(methods)
    return (*METHODS, *(name for name in ON_KNOWN if name in main_study))


def groups_of(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Features by signal group, and flags by what they are about, without empty groups.

    >>> groups_of(["broke_learning_rate_positive", "ended_hung", "phase_data"])["ending"]
    ('ended_hung', 'phase_data')
    """
    flags = flags_in(columns)
    broken = tuple(name for name in flags if name.startswith(FLAG_KINDS[0]))
    about = {BROKEN: broken, ENDED: tuple(name for name in flags if name not in broken)}
    return signal_groups(columns) | {name: members for name, members in about.items() if members}


def units(columns: Sequence[str]) -> dict[Unit, tuple[str, ...]]:
    """The features that are replaced together: each by itself, and each signal group."""
    features: dict[Unit, tuple[str, ...]] = {("feature", name): (name,) for name in columns}
    groups = groups_of(columns).items()
    return features | {("group", group): members for group, members in groups}


def build(settings: Record, columns: tuple[str, ...], seed: int) -> TunedClassifier:
    """The method that a record of settings belongs to."""
    if isinstance(settings, RandomForestSettings):
        return random_forest(settings, columns, seed)
    return ebm(EbmSettings.model_validate(settings), columns, seed)


def importances(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    methods: Mapping[str, RandomForestSettings | EbmSettings],
    settings: ImportanceDesign,
    seed: int,
    workers: int = 1,
    sets: Mapping[str, tuple[str, ...]] = MappingProxyType(IMPORTANCE_SETS),
) -> Importances:
    """Fit each method in each fold, as the main study does, and replace every unit in its tests."""
    taken = first_repeats(splits, settings.repeats, "importance.repeats")
    runs = LabelledRuns.from_table(failures)
    tasks = [
        (runs, taken, plan, feature_set, columns, method, of_method, settings, seed)
        for feature_set, columns in sets.items()
        for method, of_method in methods.items()
        for plan in by_scenario(NESTED_CV, taken)
    ]
    folds = parallel_map(_importance_of_fold, tasks, workers)
    return Importances(
        pl.concat(fold.predictions for fold in folds).sort(PREDICTION_SCHEMA.names()[:6]),
        pl.concat(fold.replacements for fold in folds).sort(REPLACEMENT_SCHEMA.names()[:8]),
        pl.concat(fold.built_in for fold in folds).sort(BUILT_IN_SCHEMA.names()[:5]),
    )


def _importance_of_fold(
    runs: LabelledRuns,
    splits: pl.DataFrame,
    plan: FoldPlan,
    feature_set: str,
    columns: tuple[str, ...],
    method: str,
    of_method: RandomForestSettings | EbmSettings,
    settings: ImportanceDesign,
    seed: int,
) -> Importances:
    tested, trained = plan.rows(splits, runs.table)
    estimator = build(of_method, columns, fold_seed(seed, plan.repeat, plan.fold))
    estimator.fit(runs.frame[trained], runs.labels[trained], groups=runs.groups[trained])
    predictions = fold_predictions(
        estimator, runs.table, runs.frame, tested, plan, feature_set=feature_set, method=method
    )
    replacements = _replacements(estimator, runs, tested, trained, columns, plan, settings)
    built_in = pl.DataFrame({"feature": columns, "value": built_in_importance(estimator)})
    key = {
        "feature_set": pl.lit(feature_set),
        "method": pl.lit(method),
        "repeat": pl.lit(plan.repeat),
        "fold": pl.lit(plan.fold),
    }
    return Importances(
        predictions,
        *(
            table.with_columns(**key).select(schema.names()).cast(schema)
            for table, schema in (
                (replacements, REPLACEMENT_SCHEMA),
                (built_in, BUILT_IN_SCHEMA),
            )
        ),
    )


def _replacements(
    estimator: TunedClassifier,
    runs: LabelledRuns,
    tested: Mask,
    trained: Mask,
    columns: tuple[str, ...],
    plan: FoldPlan,
    settings: ImportanceDesign,
) -> pl.DataFrame:
    """How often each tested run is right with each unit replaced, from either source."""
    values = runs.frame[list(columns)].to_numpy(dtype=float)
    keys = runs.table.filter(pl.Series(tested)).select("run_id", "scenario", "category")
    parts = []
    for source in SOURCES:
        drawn = donors(
            values[tested],
            values[trained],
            source,
            settings.replacements,
            np.random.default_rng([settings.seed, plan.repeat, plan.fold]),
        )
        shares = _shares_right(estimator, values[tested], runs.labels[tested], columns, drawn)
        parts += [
            keys.with_columns(
                source=pl.lit(source),
                kind=pl.lit(kind),
                name=pl.lit(name),
                correct=pl.Series(share),
            )
            for (kind, name), share in shares.items()
        ]
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
    source: Source,
    replacements: int,
    rng: np.random.Generator,
) -> Matrix:
    """Runs whose values replace those of the tested ones, ``[n_replacements, n_test, n_features]``.

    All units take theirs from the same donors, so that units differ by nothing but what is
    replaced. From the test fold they are permutations of its runs; from the training fold, runs
    drawn with replacement.
    """
    if source == "test_fold":
        orders = [rng.permutation(len(tested)) for _ in range(replacements)]
        return np.stack([tested[order] for order in orders])
    return np.asarray(trained[rng.integers(0, len(trained), (replacements, len(tested)))])


def _shares_right(
    estimator: TunedClassifier,
    tested: Matrix,
    labels: Matrix,
    columns: Sequence[str],
    replaced: Matrix,
) -> dict[Unit, Matrix]:
    """Share of replacements after which each tested run is right, ``[n_test]`` by unit."""
    by_unit = units(columns)
    replaced_runs = np.stack(
        [np.where(np.isin(columns, members), replaced, tested) for members in by_unit.values()]
    )  # [n_units, n_replacements, n_test, n_features]
    flat = pd.DataFrame(replaced_runs.reshape(-1, len(columns)), columns=list(columns))
    predictions = estimator.predict(flat).reshape(replaced_runs.shape[:3])
    shares = (predictions == labels).mean(axis=1)  # [n_units, n_test]
    return dict(zip(by_unit, shares, strict=True))
