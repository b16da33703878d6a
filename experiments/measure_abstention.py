"""Stage measure_abstention: the improved rules on the training side of every fold."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_tested_fold, within_training
from shared.abstention import RULES, AbstentionSettings

PREDICTIONS = Path("data/predictions/abstention")


def measure(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    rules: st.ImprovedRulesSettings,
    feature_set: str,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict the scenarios that each fold trains on, by inner fits to its other folds."""
    features = {feature_set: FEATURE_SETS[feature_set]}
    plans = within_training("within_training", splits)
    pairs = nested_cv(failures, successes, splits, RULES, rules, features, seed, workers, plans)
    predictions = by_tested_fold(pairs, splits)
    return predictions.cast(st.PREDICTION_SCHEMA).sort(st.PREDICTION_SCHEMA.names()[:6])


def main() -> None:
    study = st.read_section("nested_cv", st.ReferenceStudy)
    settings = st.read_section("abstention", AbstentionSettings)
    features = read_features()
    predictions = measure(
        study.failures(features),
        study.successes(features),
        st.read_splits(),
        st.read_section("improved_rules", st.ImprovedRulesSettings),
        settings.feature_set,
        study.seed,
        st.workers(),
    )
    st.write_parquet(predictions, PREDICTIONS / f"{RULES}.parquet")
    st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
