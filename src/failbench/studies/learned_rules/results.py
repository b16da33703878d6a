"""Rule signals: what the learned rules ask first, in every fold that they are learned in."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import FEATURES
from failbench.methods.learned_rules import (
    LearnedRule,
    LearnedRulesSettings,
    learned_rules,
    rule_list,
    top_signals,
)
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import fold_seed
from failbench.prediction.splits import rows_in_fold
from failbench.prediction.workers import parallel_map

SIGNAL_SCHEMA = pl.Schema(
    {
        "signal": pl.String,
        "group": pl.String,
        "subgroup": pl.String,
        "at_root": pl.Float64,
        "on_top": pl.Float64,
        "fits": pl.Int64,
    }
)
"""A row a signal: the share of fits that test it at the root, and at the root or just below."""


@dataclass(frozen=True)
class LearnedSignals:
    """The rules learned from all runs, and how stable their first questions are.

    Attributes
    ----------
    rules
        Learned from every run of the study.
    signals
        Rows of ``SIGNAL_SCHEMA`` over the fits of all folds, the most frequent root first. Folds
        share training runs, so that the fits are no independent sample: the shares say how much
        the choice depends on a fifth of the scenarios, and get no interval.
    """

    rules: tuple[LearnedRule, ...]
    signals: pl.DataFrame


def learned_signals(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    settings: LearnedRulesSettings,
    features: tuple[str, ...],
    seed: int,
    workers: int = 1,
) -> LearnedSignals:
    """Learn the rules from all runs, and in each fold as the nested cross-validation does.

    Parameters
    ----------
    failures
        Feature table of the failing runs of the study.
    splits
        Repeats and folds.
    settings, features, seed
        Those of the study, whose fits are so repeated exactly.
    """
    runs = LabelledRuns.from_table(failures)
    whole = learned_rules(settings, features, seed).fit(runs.frame, runs.labels, groups=runs.groups)
    folds = splits.select("repeat", "fold").unique().sort("repeat", "fold").rows()
    tasks = [(runs, splits, settings, features, seed, repeat, fold) for repeat, fold in folds]
    tops = parallel_map(_top_of_fold, tasks, workers)
    rows = [
        {
            "signal": feature.name,
            "group": feature.group,
            "subgroup": feature.subgroup,
            "at_root": sum(top[:1] == (feature.name,) for top in tops) / len(tops),
            "on_top": sum(feature.name in top for top in tops) / len(tops),
            "fits": len(tops),
        }
        for feature in FEATURES
    ]
    signals = (
        pl.DataFrame(rows, schema=SIGNAL_SCHEMA)
        .filter(pl.col("on_top") > 0)
        .sort("at_root", "on_top", "signal", descending=[True, True, False])
    )
    return LearnedSignals(rule_list(whole), signals)


def _top_of_fold(
    runs: LabelledRuns,
    splits: pl.DataFrame,
    settings: LearnedRulesSettings,
    features: tuple[str, ...],
    seed: int,
    repeat: int,
    fold: int,
) -> tuple[str, ...]:
    trained = ~rows_in_fold(splits, runs.groups, repeat, fold)
    method = learned_rules(settings, features, fold_seed(seed, repeat, fold))
    method.fit(runs.frame[trained], runs.labels[trained], groups=runs.groups[trained])
    return top_signals(method)
