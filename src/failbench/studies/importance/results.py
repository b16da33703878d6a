"""Results of importance: drops with their intervals, shares, and how far the two sources agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from scipy import stats

from failbench.records import Record
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.estimates import ESTIMATE, nest
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import paired_shares
from failbench.studies.importance.measure import (
    SOURCES,
    ImportanceDesign,
    Importances,
    Source,
    Unit,
    groups_of,
)

LEADING = 10
"""Features whose common share the paper gives (its Figure 3)."""

INTACT = ("nothing", "")
"""The kind and name under which intact runs stand beside those with a unit replaced."""

FIT = ("feature_set", "method", "repeat", "fold")


class ImportanceSettings(ImportanceDesign, BootstrapSettings):
    """How signals are replaced, and how scenarios are resampled."""


@dataclass(frozen=True)
class LeadingShare:
    """Share of a method's built-in importance in its leading features."""

    value: float
    sd: float
    fits: int
    features: int = LEADING


class SourceAgreement(Record):
    """How much it matters where the values that replace a feature come from."""

    rank_correlation: float
    ratio: float | None
    largest_difference: float
    tested: float
    n: int


def importance_table(measured: Importances, settings: ImportanceSettings) -> pl.DataFrame:
    """Drops and shares per feature set, method and unit: a feature, or a group of features."""
    drops = _drops(_correct(measured, settings.source), settings)
    key = ["feature_set", "method", "kind", "name"]
    positive = pl.col("value").clip(lower_bound=0)
    total = positive.sum().over("feature_set", "method", "kind")
    return drops.join(
        _built_in(measured.built_in), on=key, how="left", maintain_order="left"
    ).with_columns(share=pl.when(total > 0).then(positive / total))


def _correct(measured: Importances, source: Source) -> pl.DataFrame:
    """How far each held-out run is right: intact, and with each unit replaced from one source."""
    kind, name = INTACT
    columns = [*FIT, "kind", "name", "run_id", "scenario", "category", "correct"]
    intact = measured.predictions.with_columns(
        kind=pl.lit(kind),
        name=pl.lit(name),
        correct=(pl.col("prediction") == pl.col("category")).cast(pl.Float64),
    )
    replaced = measured.replacements.filter(pl.col("source") == source)
    return pl.concat([intact.select(columns), replaced.select(columns)])


def _drops(correct: pl.DataFrame, settings: ImportanceSettings) -> pl.DataFrame:
    parts = [
        _drops_of_method(str(feature_set), str(method), rows, settings)
        for (feature_set, method), rows in correct.sort("feature_set", "method").group_by(
            "feature_set", "method", maintain_order=True
        )
    ]
    return pl.DataFrame([row for part in parts for row in part])


def _drops_of_method(
    feature_set: str, method: str, correct: pl.DataFrame, settings: ImportanceSettings
) -> list[dict[str, object]]:
    """Each feature, in the order of its groups, and then each group."""
    # units take the place of methods in what compares methods, and the runs of a scenario are its
    # seeds, as there is a single architecture
    scores = paired_shares(
        correct.with_columns(method=pl.format("{}:{}", "kind", "name"), seed="run_id")
    )
    intact = _label(*INTACT)
    features = correct.filter(pl.col("kind") == "feature")["name"].unique().sort()
    members = groups_of(features.to_list())
    units: dict[Unit, str] = {
        ("feature", name): group for group, names in members.items() for name in names
    }
    units |= {("group", group): group for group in members}
    bounds = difference_bounds(
        scores,
        [(intact, _label(*unit)) for unit in units],
        settings.resamples,
        settings.confidence,
        settings.seed,
    )
    accuracy = scores.scenario_scores(intact).mean()
    rows: list[dict[str, object]] = []
    for ((kind, name), group), bound in zip(units.items(), bounds, strict=True):
        value = float(accuracy - scores.scenario_scores(_label(kind, name)).mean())
        low, high = bound or (value, value)
        rows.append(
            {
                "feature_set": feature_set,
                "method": method,
                "kind": kind,
                "name": name,
                "group": group,
                "accuracy": float(accuracy),
                "value": value,
                "ci_low": low,
                "ci_high": high,
                "n": scores.n,
            }
        )
    return rows


def _label(kind: str, name: str) -> str:
    return f"{kind}:{name}"


def _built_in(built_in: pl.DataFrame) -> pl.DataFrame:
    """Mean and spread over fits of each method's built-in importances, by feature and by group."""
    members = groups_of(built_in["feature"].unique().sort().to_list())
    groups = {name: group for group, names in members.items() for name in names}
    shares = built_in.with_columns(
        share=pl.col("value") / pl.col("value").sum().over(FIT),
        group=pl.col("feature").replace_strict(groups, return_dtype=pl.String),
    )
    by_group = shares.group_by(*FIT, "group", maintain_order=True).agg(
        pl.col("share", "value").sum()
    )
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


def source_agreement(measured: Importances) -> dict[str, dict[str, SourceAgreement]]:
    """Compare the two sources of replacements, by feature set and method."""
    first, second = (_plain_drops(_correct(measured, source)) for source in SOURCES)
    nested: dict[str, dict[str, SourceAgreement]] = {}
    tested = float(measured.predictions.group_by(FIT).len()["len"].to_numpy().mean())
    key = ["feature_set", "method", "kind", "name"]
    both = first.join(second, on=key, suffix="_test")
    for (feature_set, method), units in both.sort(key).group_by(
        "feature_set", "method", maintain_order=True
    ):
        features = units.filter(pl.col("kind") == "feature")
        training, test = features["drop"].to_numpy(), features["drop_test"].to_numpy()
        total = float(training.sum())
        nested.setdefault(str(feature_set), {})[str(method)] = SourceAgreement(
            rank_correlation=float(stats.spearmanr(training, test).statistic),
            ratio=float(test.sum()) / total if total > 0 else None,
            largest_difference=float((units["drop"] - units["drop_test"]).abs().to_numpy().max()),
            tested=tested,
            n=features.height,
        )
    return nested


def _plain_drops(correct: pl.DataFrame) -> pl.DataFrame:
    """The drop of each unit, without intervals."""
    key = ["feature_set", "method", "kind", "name"]
    accuracies = (
        correct.group_by(*key, "scenario", maintain_order=True)
        .agg(pl.col("correct").mean())
        .group_by(key, maintain_order=True)
        .agg(pl.col("correct").mean())
    )
    is_intact = pl.col("kind") == INTACT[0]
    intact = accuracies.filter(is_intact).drop("kind", "name")
    return (
        accuracies.filter(~is_intact)
        .join(intact, on=["feature_set", "method"], suffix="_intact")
        .select(*key, drop=pl.col("correct_intact") - pl.col("correct"))
    )


def leading_share(built_in: pl.DataFrame, feature_set: str, method: str) -> LeadingShare:
    """Share of a method's built-in importance in its leading features, fit by fit."""
    fits = built_in.filter(pl.col("feature_set") == feature_set, pl.col("method") == method)
    shares = [
        np.sort(fit["value"].to_numpy())[::-1][:LEADING].sum() / fit["value"].sum()
        for _, fit in fits.group_by("repeat", "fold", maintain_order=True)
    ]
    return LeadingShare(float(np.mean(shares)), float(np.std(shares, ddof=1)), len(shares))


def importance_metrics(
    table: pl.DataFrame,
    agreement: Mapping[str, Mapping[str, SourceAgreement]],
    leading: Mapping[str, LeadingShare],
) -> dict[str, object]:
    """The table, the agreement of the sources and the leading features as nested scalars."""
    rows = table.with_columns(kinds=pl.col("kind") + "s")
    key = ["feature_set", "method", "kinds", "name"]
    quantities = pl.concat(
        (
            rows.select(*key, *ESTIMATE, quantity=pl.lit("drop")),
            rows.select(*key, "fits", quantity=pl.lit("own_share"), value="own", sd="own_sd"),
            rows.drop_nulls("share").select(*key, quantity=pl.lit("share_of_drops"), value="share"),
        ),
        how="diagonal",
    )
    return {
        "importance": nest(quantities, *key, "quantity", leaves=(*ESTIMATE, "sd", "fits")),
        "sources": {
            feature_set: {
                method: agreed.model_dump(exclude_none=True) for method, agreed in methods.items()
            }
            for feature_set, methods in agreement.items()
        },
        "leading_features": {feature_set: asdict(share) for feature_set, share in leading.items()},
    }
