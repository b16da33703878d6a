"""Stage measure_learned_rules: learn the rules from all runs, and see what each fold asks first."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.methods.learned_rules import LearnedRule, learned_rules, rule_list, top_signals
from failbench.prediction.nested_cv import LabelledRuns, fold_seed
from failbench.prediction.splits import rows_in_fold
from shared.learned_rules import RULE_SCHEMA, TEST, TOP_SCHEMA

MEASUREMENTS = Path("data/measurements/learned_rules")


def learned_fits(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    settings: st.LearnedRulesSettings,
    features: tuple[str, ...],
    seed: int,
    workers: int = 1,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rules learned from all runs, and the first questions of those learned in each fold."""
    runs = LabelledRuns.from_table(failures)
    whole = learned_rules(settings, features, seed).fit(runs.frame, runs.labels, groups=runs.groups)
    folds = splits.select("repeat", "fold").unique().sort("repeat", "fold").rows()
    tasks = [(runs, splits, settings, features, seed, *fold) for fold in folds]
    tops = st.parallel_map(top_of_fold, tasks, workers)
    rows = [(*fold, list(top)) for fold, top in zip(folds, tops, strict=True)]
    return rules_to_table(rule_list(whole)), pl.DataFrame(rows, TOP_SCHEMA, orient="row")


def top_of_fold(
    runs: LabelledRuns,
    splits: pl.DataFrame,
    settings: st.LearnedRulesSettings,
    features: tuple[str, ...],
    seed: int,
    repeat: int,
    fold: int,
) -> tuple[str, ...]:
    """What is asked first in a fold, learned as the nested cross-validation does."""
    trained = ~rows_in_fold(splits, runs.groups, repeat, fold)
    method = learned_rules(settings, features, fold_seed(seed, repeat, fold))
    method.fit(runs.frame[trained], runs.labels[trained], groups=runs.groups[trained])
    return top_signals(method)


def rules_to_table(rules: tuple[LearnedRule, ...]) -> pl.DataFrame:
    names = [field.name for field in TEST.fields]
    rows = [
        asdict(rule) | {"tests": [dict(zip(names, test, strict=True)) for test in rule.tests]}
        for rule in rules
    ]
    return pl.DataFrame(rows, schema=RULE_SCHEMA)


def main() -> None:
    study = st.read_section("nested_cv", st.ReferenceStudy)
    rules, tops = learned_fits(
        study.failures(read_features()),
        st.read_splits(),
        st.read_section("learned_rules", st.LearnedRulesSettings),
        FEATURE_SETS[st.PRIMARY_SET],
        study.seed,
        st.workers(),
    )
    st.write_parquet(rules, MEASUREMENTS / "rules.parquet")
    st.write_parquet(tops, MEASUREMENTS / "tops.parquet")
    st.print_table(("rules", "fits"), [(rules.height, tops.height)])


if __name__ == "__main__":
    st.run(main)
