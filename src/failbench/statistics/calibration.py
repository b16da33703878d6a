"""Calibration: how far confidence is from correctness, and how far it would be by chance alone.

The expected calibration error of Naeini, Cooper and Hauskrecht (2015, "Obtaining well calibrated
probabilities using Bayesian binning", AAAI), with bins as in Guo, Pleiss, Sun and Weinberger (2017,
"On calibration of modern neural networks", ICML): of equal width, each with its upper edge. It is
biased upwards on small samples (Kumar, Liang and Ma, 2019, "Verified uncertainty calibration",
NeurIPS), so that it says nothing without the floor that a perfectly calibrated method would show.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.statistics.row_weights import seed_counts
from failbench.statistics.scenario_values import ScenarioValues, right

COMMITTED = pl.col("prediction") != ABSTAIN


def calibration_gaps(predictions: pl.DataFrame, bins: int) -> ScenarioValues:
    """What the calibration error is made of, ``[n_rows, n_repeats, bins + 1]``.

    For each bin of confidence, correctness less confidence, added up over the runs that a scenario
    and seed has in it; and last the runs that were committed on. Both are shares of its runs.

    Parameters
    ----------
    predictions
        Rows of one method and feature set. Abstentions are left out: there is no answer whose
        correctness the confidence could be of.
    bins
        Bins of equal width from 0 to 1.
    """
    repeats = predictions["repeat"].n_unique()
    gap = right().cast(pl.Float64) - pl.col("confidence")
    unit = ["category", "scenario", "seed"]
    table = (
        predictions.with_columns(bin=_bin_of(predictions, bins), gap=gap)
        .group_by(*unit, "repeat")
        .agg(
            *(
                (
                    pl.col("gap").filter(COMMITTED & (pl.col("bin") == number)).sum() / pl.len()
                ).alias(f"gap_{number}")
                for number in range(bins)
            ),
            COMMITTED.mean().alias("committed"),
        )
        .sort(*unit, "repeat")
    )
    values, seeds = {}, []
    for category in CATEGORIES:
        rows = table.filter(pl.col("category") == category)
        if rows.height:
            numbers = rows.drop(*unit, "repeat").to_numpy()
            values[str(category)] = numbers.reshape(-1, repeats, bins + 1)
            seeds.append(seed_counts(rows))
    return ScenarioValues(values, tuple(seeds))


def calibration_error(sums: Array) -> Array:
    """Mean over bins of the distance of accuracy from mean confidence, weighted by their sizes.

    Parameters
    ----------
    sums
        Of calibration gaps, ``[..., n_repeats, bins + 1]``.

    Returns
    -------
    Array
        ``[...]``: computed per repeat and averaged over the repeats in which anything was committed
        on; zero where nothing was in any.
    """
    gaps, committed = np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1]
    some = committed > 0
    errors = np.divide(gaps, committed, out=np.zeros_like(gaps), where=some)
    return np.asarray(errors.sum(axis=-1) / np.maximum(some.sum(axis=-1), 1), dtype=np.float64)


def calibration_floor(
    predictions: pl.DataFrame, bins: int, draws: int, rng: np.random.Generator
) -> Array:
    """Calibration errors of a perfectly calibrated method with the same confidences, ``[draws]``.

    In each draw an answer is right with a probability of its confidence. One uniform number for
    each scenario decides on all its runs and repeats: the scenario is the independent unit, and
    runs that were right independently of one another would average the floor's spread away. Seeds
    of a scenario that do not quite go together make the true floor a little lower.
    """
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
    """Runs that a row's scenario has in a repeat."""
    runs = predictions.group_by("scenario").agg(pl.col("run_id").n_unique())
    return pl.col("scenario").replace_strict(runs["scenario"], runs["run_id"])


def _bin_of(predictions: pl.DataFrame, bins: int) -> pl.Series:
    """Bin of each row's confidence; a confidence on an edge belongs to the bin below it."""
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    return pl.Series("bin", np.searchsorted(edges, predictions["confidence"].to_numpy()))
