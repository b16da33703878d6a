"""Importance table: drops with their intervals, shares, and how far the two sources agree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy import stats

from failbench.methods.signal_groups import signal_groups
from failbench.records import Record
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import paired_shares
from failbench.studies.importance.measure import (
    IMPORTANCE_SETS,
    NOTHING,
    SOURCES,
    Importances,
    ImportanceSettings,
    group_unit,
)

LEADING = 10
"""Features whose common share the paper gives (its Figure 3)."""


class SourceAgreement(Record):
    """How much it matters where the values that replace a feature come from.

    Attributes
    ----------
    rank_correlation
        Spearman's, of the drops of single features.
    ratio
        Sum of the drops of single features with values of the test fold, over that with values of
        the training fold; (n_test - 1) / n_test is what runs that keep their values leave of it.
        None where the latter sum is not positive.
    largest_difference
        Between the two drops of one feature or group, as a fraction.
    tested
        Runs that a fold tests, on average.
    n
        Features.
    """

    rank_correlation: float
    ratio: float | None
    largest_difference: float
    tested: float
    n: int


def importance_table(found: Importances, settings: ImportanceSettings) -> pl.DataFrame:
    """One row a feature set, method and unit: a feature, or a group of features.

    Returns
    -------
    polars.DataFrame
        ``kind`` (feature or group), ``name`` and ``group``. ``value`` is the accuracy on intact
        runs less that on runs whose unit is replaced, from ``settings.source``, with BCa bounds
        over ``n`` scenarios (equal to it where all resamples agree). ``share`` is its part in the
        sum of the positive drops of its kind: of the same feature set and method, null where none
        is positive. ``own`` is the importance that the method gives itself, as a share of all
        features, with its standard deviation ``own_sd`` over ``fits``, which share training runs:
        a description and no interval. ``own_raw`` is the same before it was divided.
    """
    drops = _drops(found.units.filter(pl.col("source") == settings.source), settings)
    own = _own(found.own)
    key = ["feature_set", "method", "kind", "name"]
    positive = pl.col("value").clip(lower_bound=0)
    total = positive.sum().over("feature_set", "method", "kind")
    return drops.join(own, on=key, how="left", maintain_order="left").with_columns(
        share=pl.when(total > 0).then(positive / total)
    )


def _drops(units: pl.DataFrame, settings: ImportanceSettings) -> pl.DataFrame:
    rows = []
    for (feature_set, method), part in units.sort("feature_set", "method").group_by(
        "feature_set", "method", maintain_order=True
    ):
        # the runs of a scenario are its seeds: there is a single architecture
        scores = paired_shares(part.with_columns(method="unit", seed="run_id"))
        members = signal_groups(IMPORTANCE_SETS[str(feature_set)])
        named = [
            *(("feature", name, group, name) for group, names in members.items() for name in names),
            *(("group", group, group, group_unit(group)) for group in members),
        ]
        bounds = difference_bounds(
            scores,
            [(NOTHING, unit) for *_, unit in named],
            settings.resamples,
            settings.confidence,
            settings.seed,
        )
        intact = scores.scenario_scores(NOTHING).mean()
        for (kind, name, group, unit), bound in zip(named, bounds, strict=True):
            value = float(intact - scores.scenario_scores(unit).mean())
            low, high = bound or (value, value)
            rows.append(
                {
                    "feature_set": feature_set,
                    "method": method,
                    "kind": kind,
                    "name": name,
                    "group": group,
                    "accuracy": float(intact),
                    "value": value,
                    "ci_low": low,
                    "ci_high": high,
                    "n": scores.n,
                }
            )
    return pl.DataFrame(rows)


def _own(own: pl.DataFrame) -> pl.DataFrame:
    """Mean and spread over fits of each method's own importances, by feature and by group."""
    fit = ["feature_set", "method", "repeat", "fold"]
    groups = {
        name: group
        for columns in IMPORTANCE_SETS.values()
        for group, names in signal_groups(columns).items()
        for name in names
    }
    shares = own.with_columns(
        share=pl.col("value") / pl.col("value").sum().over(fit),
        group=pl.col("feature").replace_strict(groups, return_dtype=pl.String),
    )
    by_group = shares.group_by(*fit, "group").agg(pl.col("share", "value").sum())
    parts = (
        shares.rename({"feature": "name"}).with_columns(kind=pl.lit("feature")),
        by_group.rename({"group": "name"}).with_columns(kind=pl.lit("group")),
    )
    return pl.concat(
        part.group_by("feature_set", "method", "kind", "name").agg(
            own=pl.col("share").mean(),
            own_sd=pl.col("share").std(),
            own_raw=pl.col("value").mean(),
            fits=pl.len().cast(pl.Int64),
        )
        for part in parts
    )


def source_agreement(found: Importances) -> dict[str, dict[str, SourceAgreement]]:
    """Compare the two sources of replacements, by feature set and method."""
    first, second = (
        _plain_drops(found.units.filter(pl.col("source") == source)) for source in SOURCES
    )
    nested: dict[str, dict[str, SourceAgreement]] = {}
    key = ["feature_set", "method", "source", "unit", "repeat", "fold"]
    tested = float(found.units.group_by(key).len()["len"].to_numpy().mean())
    both = first.join(second, on=["feature_set", "method", "unit"], suffix="_test")
    for (feature_set, method), part in both.sort("feature_set", "method", "unit").group_by(
        "feature_set", "method", maintain_order=True
    ):
        features = part.filter(~pl.col("unit").str.starts_with(group_unit("")))
        training, test = features["drop"].to_numpy(), features["drop_test"].to_numpy()
        total = float(training.sum())
        nested.setdefault(str(feature_set), {})[str(method)] = SourceAgreement(
            rank_correlation=float(stats.spearmanr(training, test).statistic),
            ratio=float(test.sum()) / total if total > 0 else None,
            largest_difference=float((part["drop"] - part["drop_test"]).abs().to_numpy().max()),
            tested=tested,
            n=features.height,
        )
    return nested


def _plain_drops(units: pl.DataFrame) -> pl.DataFrame:
    """The drop of each unit, without intervals."""
    key = ["feature_set", "method", "unit"]
    accuracies = (
        units.group_by(*key, "scenario")
        .agg(pl.col("correct").mean())
        .group_by(key)
        .agg(pl.col("correct").mean())
    )
    intact = accuracies.filter(pl.col("unit") == NOTHING).drop("unit")
    return (
        accuracies.filter(pl.col("unit") != NOTHING)
        .join(intact, on=["feature_set", "method"], suffix="_intact")
        .select(*key, drop=pl.col("correct_intact") - pl.col("correct"))
    )


def leading_share(own: pl.DataFrame, feature_set: str, method: str) -> tuple[float, float, int]:
    """Share of a method's own importance in its leading features, fit by fit.

    Returns
    -------
    tuple
        Mean and standard deviation over fits, and how many these are.
    """
    mine = own.filter(pl.col("feature_set") == feature_set, pl.col("method") == method)
    shares = [
        np.sort(part["value"].to_numpy())[::-1][:LEADING].sum() / part["value"].sum()
        for _, part in mine.group_by("repeat", "fold", maintain_order=True)
    ]
    return float(np.mean(shares)), float(np.std(shares, ddof=1)), len(shares)


def importance_metrics(
    table: pl.DataFrame,
    agreement: Mapping[str, Mapping[str, SourceAgreement]],
    leading: Mapping[str, tuple[float, float, int]],
) -> dict[str, object]:
    """The table, the agreement of the sources and the leading features as nested scalars."""
    drops: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
    for row in table.iter_rows(named=True):
        names = drops.setdefault(row["feature_set"], {}).setdefault(row["method"], {})
        one: dict[str, object] = {
            "drop": {key: row[key] for key in ("value", "ci_low", "ci_high", "n")},
            "own_share": {"value": row["own"], "sd": row["own_sd"], "fits": row["fits"]},
        }
        if row["share"] is not None:
            one["share_of_drops"] = {"value": row["share"]}
        names.setdefault(f"{row['kind']}s", {})[row["name"]] = one
    return {
        "importance": drops,
        "sources": {
            feature_set: {
                method: {key: value for key, value in one.model_dump().items() if value is not None}
                for method, one in methods.items()
            }
            for feature_set, methods in agreement.items()
        },
        "leading_features": {
            feature_set: {"value": value, "sd": spread, "fits": fits, "features": LEADING}
            for feature_set, (value, spread, fits) in leading.items()
        },
    }
