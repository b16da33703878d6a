"""Learned rules, measured: the list learned from all runs, and what every fold asks first."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import polars as pl

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

RULE_SCHEMA = pl.Schema(
    {
        "tests": pl.List(
            pl.Struct({"feature": pl.String(), "side": pl.String(), "threshold": pl.Float64()})
        ),
        "category": pl.String(),
        "share": pl.Float64(),
        "runs": pl.Int64(),
    }
)
"""Per rule, in the order of the tree's leaves; see :class:`LearnedRule`."""

TOP_SCHEMA = pl.Schema({"repeat": pl.Int32(), "fold": pl.Int32(), "signals": pl.List(pl.String())})
"""Per fit: the features that it tests at the root and just below, the root's first."""


@dataclass(frozen=True)
class LearnedFits:
    """The rules learned from all runs, and the first questions of those learned in each fold."""

    rules: pl.DataFrame
    tops: pl.DataFrame


def learned_fits(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    settings: LearnedRulesSettings,
    features: tuple[str, ...],
    seed: int,
    workers: int = 1,
) -> LearnedFits:
    """Learn the rules from all runs, and in each fold as the nested cross-validation does."""
    runs = LabelledRuns.from_table(failures)
    whole = learned_rules(settings, features, seed).fit(runs.frame, runs.labels, groups=runs.groups)
    folds = splits.select("repeat", "fold").unique().sort("repeat", "fold").rows()
    tasks = [(runs, splits, settings, features, seed, repeat, fold) for repeat, fold in folds]
    tops = parallel_map(_top_of_fold, tasks, workers)
    rows = [
        {"repeat": repeat, "fold": fold, "signals": list(top)}
        for (repeat, fold), top in zip(folds, tops, strict=True)
    ]
    return LearnedFits(rules_to_table(rule_list(whole)), pl.DataFrame(rows, schema=TOP_SCHEMA))


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


def rules_to_table(rules: tuple[LearnedRule, ...]) -> pl.DataFrame:
    """Rules as rows of ``RULE_SCHEMA``."""
    rows = [
        asdict(rule)
        | {
            "tests": [
                {"feature": feature, "side": side, "threshold": threshold}
                for feature, side, threshold in rule.tests
            ]
        }
        for rule in rules
    ]
    return pl.DataFrame(rows, schema=RULE_SCHEMA)


def rules_from_table(table: pl.DataFrame) -> tuple[LearnedRule, ...]:
    """Rules from rows of ``RULE_SCHEMA``."""
    return tuple(
        LearnedRule(
            tuple((test["feature"], test["side"], test["threshold"]) for test in row["tests"]),
            row["category"],
            row["share"],
            row["runs"],
        )
        for row in table.iter_rows(named=True)
    )
