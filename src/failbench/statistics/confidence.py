"""Confidence: how well it is calibrated, ranks answers, and tells some scenarios from others."""

# Expected calibration error: Naeini, Cooper and Hauskrecht (2015, AAAI), with bins as in Guo,
# Pleiss, Sun and Weinberger (2017, ICML): of equal width, each with its upper edge. It is biased
# upwards on small samples (Kumar, Liang and Ma, 2019, NeurIPS), so that it says nothing without the
# floor that a perfectly calibrated method would show. Selective risk against coverage: El-Yaniv and
# Wiener (2010, JMLR 11); the area under it: Geifman and El-Yaniv (2017, NeurIPS), Geifman, Uziel
# and El-Yaniv (2019, ICLR). Theirs adds up a risk per run; here the curve is linear in its errors
# between runs and the area its integral, which has the same limit and does not depend on the order
# of equal confidences.

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, CATEGORIES, Category
from failbench.statistics.bootstrap import (
    BootstrapSettings,
    Indices,
    Interval,
    Weights,
    resampled_interval,
    seed_counts,
)
from failbench.statistics.scenario_values import (
    UNIT,
    ScenarioValues,
    by_category,
    quotient,
    right,
    scenario_answers,
)

COMMITTED = pl.col("prediction") != ABSTAIN


def calibration_gaps(predictions: pl.DataFrame, bins: int) -> ScenarioValues:
    """What the calibration error is made of, ``[n_rows, n_repeats, bins + 1]``."""
    # Correctness less confidence by bin, and last what was committed on: sums over the runs of a
    # scenario and seed, as shares. Abstentions have no answer that could be right, and are left
    # out.
    repeats = predictions["repeat"].n_unique()
    gap = right().cast(pl.Float64) - pl.col("confidence")
    table = (
        predictions.with_columns(bin=_bin_of(predictions, bins), gap=gap)
        .group_by(*UNIT, "repeat")
        .agg(
            *(
                (
                    pl.col("gap").filter(COMMITTED & (pl.col("bin") == number)).sum() / pl.len()
                ).alias(f"gap_{number}")
                for number in range(bins)
            ),
            COMMITTED.mean().alias("committed"),
        )
        .sort(*UNIT, "repeat")
    )
    parts, seeds = by_category(table)
    numbers = {name: part.drop(*UNIT, "repeat").to_numpy() for name, part in parts.items()}
    shape = (-1, repeats, bins + 1)
    return ScenarioValues({name: part.reshape(shape) for name, part in numbers.items()}, seeds)


def calibration_error(sums: Array) -> Array:
    """Mean distance of accuracy from confidence over bins, by size; 0 if nothing is committed."""
    gaps, committed = np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1]
    some = committed > 0
    return np.asarray(
        quotient(gaps, committed).sum(axis=-1) / np.maximum(some.sum(axis=-1), 1), dtype=np.float64
    )


def calibration_floor(
    predictions: pl.DataFrame, bins: int, draws: int, rng: np.random.Generator
) -> Array:
    """Calibration errors of a calibrated method with the same confidences, ``[draws]``."""
    # One uniform number a scenario decides on all its runs and repeats: it is the independent unit,
    # and runs right independently of one another would average the floor's spread away. Seeds that
    # do not quite go together make the true floor a little lower.
    committed = predictions.filter(COMMITTED)
    confidence = committed["confidence"].to_numpy()
    scenarios = committed["scenario"].rank("dense").to_numpy() - 1
    repeats = committed["repeat"].rank("dense").to_numpy() - 1
    share = (1 / committed.select(_runs_of_scenario(predictions)).to_series()).to_numpy()
    cell = repeats * bins + _bin_of(committed, bins).to_numpy()
    n_repeats = repeats.max() + 1

    # [n_rows, n_repeats * bins]: adds rows up by repeat and bin
    members = np.zeros((committed.height, n_repeats * bins))
    members[np.arange(committed.height), cell] = share
    uniform = rng.random((draws, scenarios.max() + 1))
    gaps = (uniform[:, scenarios] < confidence) - confidence
    sums = np.empty((draws, n_repeats, bins + 1))
    sums[..., :-1] = (gaps @ members).reshape(draws, n_repeats, bins)
    sums[..., -1] = np.bincount(repeats, weights=share)
    return calibration_error(sums)


def _runs_of_scenario(predictions: pl.DataFrame) -> pl.Expr:
    runs = predictions.group_by("scenario").agg(pl.col("run_id").n_unique())
    return pl.col("scenario").replace_strict(runs["scenario"], runs["run_id"])


def _bin_of(predictions: pl.DataFrame, bins: int) -> pl.Series:
    """Bin of each row's confidence; a confidence on an edge belongs to the bin below it."""
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    return pl.Series("bin", np.searchsorted(edges, predictions["confidence"].to_numpy()))


@dataclass(frozen=True)
class Ranking:
    """The runs of one repeat by falling confidence."""

    row: Indices
    share: Array
    wrong: Array
    starts: Indices

    def cumulative(self, weights: Array) -> tuple[Array, Array]:
        """Coverage and share of errors up to the end of each block, from nothing to everything."""
        runs = weights[..., self.row] * self.share
        covered = np.cumsum(np.add.reduceat(runs, self.starts, axis=-1), axis=-1)
        errors = np.cumsum(np.add.reduceat(runs * self.wrong, self.starts, axis=-1), axis=-1)
        start = [(0, 0)] * (runs.ndim - 1) + [(1, 0)]
        whole = covered[..., -1:]
        return np.pad(covered / whole, start), np.pad(errors / whole, start)


def rankings(predictions: pl.DataFrame) -> tuple[Ranking, ...]:
    """Rank one method's runs by repeat; abstentions come last and are wrong, as in accuracy."""
    ranked = (
        predictions.join(_rows(predictions), on=UNIT, nulls_equal=True)
        .select(
            "repeat",
            "row",
            share=1 / pl.len().over("repeat", "scenario"),
            wrong=(~right()).cast(pl.Float64),
            confidence=pl.when(pl.col("prediction") == ABSTAIN).then(-1.0).otherwise("confidence"),
        )
        .sort("repeat", "confidence", "row", descending=[False, True, False])
    )
    return tuple(
        Ranking(
            part["row"].to_numpy(),
            part["share"].to_numpy(),
            part["wrong"].to_numpy(),
            np.flatnonzero(np.diff(part["confidence"].to_numpy(), prepend=np.inf)),
        )
        for _, part in ranked.group_by("repeat", maintain_order=True)
    )


def _rows(predictions: pl.DataFrame) -> pl.DataFrame:
    """Every scenario and seed with its ``row``, in the order in which they are resampled."""
    order = {category: position for position, category in enumerate(CATEGORIES)}
    return (
        predictions.select(UNIT)
        .unique()
        .sort(pl.col("category").replace_strict(order, return_dtype=pl.Int64), "scenario", "seed")
        .with_row_index("row")
    )


def risk_curve(ranked: tuple[Ranking, ...], coverage: Array) -> Array:
    """Mean over repeats of the risk at each coverage; of a block in part, a random part's."""
    weights = np.ones(1 + max(int(ranking.row.max()) for ranking in ranked))
    errors = [np.interp(coverage, *ranking.cumulative(weights)) for ranking in ranked]
    return np.asarray(np.mean(errors, axis=0) / coverage, dtype=np.float64)


def area_under(ranked: tuple[Ranking, ...], weights: Array) -> Array:
    """Integral of risk over coverage from 0 to 1, ``[...]``, in closed form."""
    # Errors are a line a + b c over each block, and the integral of a / c + b is a ln c + b c.
    areas = []
    for ranking in ranked:
        covered, errors = ranking.cumulative(weights)
        before, width = covered[..., :-1], np.diff(covered)
        slope = quotient(np.diff(errors), width)
        offset = errors[..., :-1] - slope * before
        # Where coverage starts so does the error, and the offset is zero.
        growth = np.log(quotient(covered[..., 1:], before, otherwise=1.0))
        areas.append((offset * growth + slope * width).sum(axis=-1))
    return np.asarray(np.mean(areas, axis=0), dtype=np.float64)


def area_interval(predictions: pl.DataFrame, settings: BootstrapSettings) -> Interval:
    """The area with its BCa interval over scenarios and seeds."""
    ranked = rankings(predictions)
    seeds = scenario_answers(predictions).seeds
    of_rows = np.concatenate([np.repeat(rows, rows) for rows in seeds])

    def statistic(weights: Weights) -> Array:
        return area_under(ranked, np.concatenate(weights, axis=-1) * of_rows)

    return resampled_interval(
        seeds,
        statistic,
        settings,
        "mean over coverages of the probability that a run of a new scenario among those "
        "that the method is most confident of is not diagnosed right",
    )


def entropy() -> pl.Expr:
    """Entropy of a prediction (Shannon, 1948) over that of equal odds: 0 sure, 1 all the same."""
    terms = []
    for category in CATEGORIES:
        probability = pl.col(f"p_{category}")
        terms.append(pl.when(probability > 0).then(-probability * probability.log()).otherwise(0.0))
    return pl.sum_horizontal(terms) / math.log(len(CATEGORIES))


def separation(
    predictions: pl.DataFrame, value: pl.Expr, category: Category, settings: BootstrapSettings
) -> Interval:
    """How well a figure tells a category's scenarios: the ROC area (Hanley and McNeil, 1982)."""
    table = (
        predictions.group_by(UNIT)
        .agg(value.cast(pl.Float64).mean().round(12).alias("value"))
        .sort(UNIT)
    )
    values = table["value"].to_numpy()
    those = (table["category"] == category).to_numpy()
    # 1 where the first is larger, 0.5 where both are alike
    wins = (np.sign(values[those][:, None] - values[~those][None, :]) + 1) / 2
    seeds = tuple(seed_counts(part) for part in table.partition_by("category"))

    def statistic(weights: Weights) -> Array:
        counts = np.concatenate(weights, axis=-1)
        apart, others = counts[..., those], counts[..., ~those]
        won = np.einsum("...i,...i->...", apart @ wins, others)
        return np.asarray(won / (apart.sum(axis=-1) * others.sum(axis=-1)))

    estimand = f"probability that a new {category} scenario has a larger figure than another"
    return resampled_interval(seeds, statistic, settings, estimand)
