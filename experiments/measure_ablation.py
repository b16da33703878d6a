"""Stage measure_ablation: predict with some groups of signals only, without one, and with two.

Two readings of the rules are tested, as the paper does not say which it means. ``improved_rules``
is the method as it is on runs of which nothing else was logged: a confirming signal that is not
there leaves a leaf unconfirmed, and the method abstains. ``reduced_rules`` is the tree with the
conditions on other signals taken out, which asks for no confirmation that it could not get. The
random forest is fitted to the columns that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS, signal_groups
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, read_features, to_frame
from failbench.methods.classifiers import random_forest
from failbench.methods.declaration import Method
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.nested_cv import LabelledRuns, fold_predictions, fold_seed
from failbench.prediction.splits import FoldPlan, by_scenario
from shared.ablation import ABLATION_SCHEMA, FOREST, REDUCED, RULES, AblationDesign

PREDICTIONS = Path("data/predictions/ablation")

KEY = [*st.PREDICTION_SCHEMA.names()[:6], "subset"]


@dataclass(frozen=True)
class View:
    """A method that sees some signals: features, and ``error_text`` where rules may read it."""

    method: str
    settings: st.Record
    signals: tuple[str, ...]

    def frame(self, runs: pd.DataFrame) -> pd.DataFrame:
        """The runs as the method receives them; what the improved rules must not see is missing."""
        if self.method != RULES:
            return runs
        hidden = [name for name in FEATURE_SETS["19"] if name not in self.signals]
        blind = runs.assign(**dict.fromkeys(hidden, np.nan))
        if st.ERROR_TEXT_SIGNAL not in self.signals:
            blind = blind.assign(**dict.fromkeys(ERROR_TEXT_COLUMNS, ""))
        return blind

    def estimator(self, band: HealthyBand, seed: int) -> Method:
        """The method, unfitted."""
        if isinstance(self.settings, st.RandomForestSettings):
            # nobody reads here why a forest answers, which costs as much as to fit it
            forest = random_forest(self.settings, self.signals, seed)
            forest.explain = None
            return forest
        signals = self.signals if self.method == REDUCED else None
        return ImprovedRules(band, **self.settings.model_dump(), signals=signals)


def subsets(groups: Sequence[str], kept: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The groups of each subset by its name: all of them, those that are kept, all but one.

    A subset with a group that is not among ``groups`` is left out.
    """
    subsets = {st.ALL_GROUPS: tuple(groups)}
    subsets |= {"+".join(names): tuple(names) for names in kept if set(names) <= set(groups)}
    for name in groups:
        subsets[f"without_{name}"] = tuple(other for other in groups if other != name)
    return subsets


def views(
    rules: st.ImprovedRulesSettings, forest: st.RandomForestSettings, kept: Sequence[Sequence[str]]
) -> dict[tuple[str, str, str], View]:
    """What is seen, by feature set, method and subset.

    Two feature sets may show a forest the same columns: the views are equal then.
    """
    seen_by = {}
    for method, settings, feature_set in (
        (RULES, rules, "19"),
        (REDUCED, rules, "19"),
        *((FOREST, forest, name) for name in FEATURE_SETS),
    ):
        columns = FEATURE_SETS[feature_set]
        members = signal_groups(columns)
        if method != FOREST:
            members[st.ERROR_TEXT_SIGNAL] = (st.ERROR_TEXT_SIGNAL,)
        for subset, groups in subsets(tuple(members), kept).items():
            seen = {name for group in groups for name in members[group]}
            signals = tuple(name for name in (*columns, st.ERROR_TEXT_SIGNAL) if name in seen)
            seen_by[feature_set, method, subset] = View(method, settings, signals)
    return seen_by


def ablation(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    rules: st.ImprovedRulesSettings,
    forest: st.RandomForestSettings,
    settings: AblationDesign,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict every run by each method with each subset of the signals."""
    taken = st.first_repeats(splits, settings.repeats, "ablation.repeats")
    runs = LabelledRuns.from_table(failures)
    band = healthy_band(to_frame(successes), all_band_features())
    searched_for = ("max_features", "min_samples_leaf")
    first_of_grid = {name: getattr(forest, name)[:1] for name in searched_for}
    seen_by = views(rules, forest.model_copy(update=first_of_grid), settings.kept)
    distinct = list(dict.fromkeys(seen_by.values()))
    tasks = [(view, runs, band, taken, by_scenario(st.NESTED_CV, taken), seed) for view in distinct]
    predictions = dict(zip(distinct, st.parallel_map(predicted, tasks, workers), strict=True))
    parts = [
        predictions[view].with_columns(feature_set=pl.lit(feature_set), subset=pl.lit(subset))
        for (feature_set, _, subset), view in seen_by.items()
    ]
    return pl.concat(parts).select(ABLATION_SCHEMA.names()).sort(KEY)


def predicted(
    view: View,
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    plans: Sequence[FoldPlan],
    seed: int,
) -> pl.DataFrame:
    """Predictions by one method with one subset; which feature sets show it that is not known."""
    frame = view.frame(runs.frame)
    parts = []
    for plan in plans:
        tested, trained = plan.rows(splits, runs.table)
        method = view.estimator(band, fold_seed(seed, plan.repeat, plan.fold))
        method.fit(frame[trained], runs.labels[trained], groups=runs.groups[trained])
        names = {"feature_set": "", "method": view.method}
        parts.append(fold_predictions(method, runs.table, frame, tested, plan, **names))
    return pl.concat(parts)


def main() -> None:
    study = st.read_section("nested_cv", st.ReferenceStudy)
    features = read_features()
    predictions = ablation(
        study.failures(features),
        study.successes(features),
        st.read_splits(),
        st.read_section("improved_rules", st.ImprovedRulesSettings),
        st.read_section("random_forest", st.RandomForestSettings),
        st.read_section("ablation", AblationDesign),
        study.seed,
        st.workers(),
    )
    for (method,), part in predictions.partition_by("method", as_dict=True).items():
        st.write_parquet(part, PREDICTIONS / f"{method}.parquet")
    subsets = predictions.group_by("feature_set", "method").agg(pl.col("subset").n_unique())
    st.print_table(subsets.columns, subsets.sort("feature_set", "method").rows())


if __name__ == "__main__":
    st.run(main)
