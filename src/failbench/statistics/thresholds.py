"""Thresholds: what rules and hybrids would answer at others, at what cost, and which to choose."""

# Tau takes part in the last decision of the improved rules alone, and members of a hybrid answer
# each run whether or not it is handed on, so that stored predictions tell every threshold's
# answers.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.predictions import RUN_KEY
from failbench.base.vocabulary import ABSTAIN, CATEGORIES, Route
from failbench.statistics.bootstrap import BATCH, Weights, all_seeds, drawn_seeds, once
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.metrics import UnitCosts
from failbench.statistics.scenario_values import UNIT, ScenarioValues, by_category, right

UNCLEAR = ("conflict", "missing")  # reasons to abstain that no threshold lifts
ROUNDING = 1e-9  # a share that misses its target by less has reached it


def at_threshold(predictions: pl.DataFrame, tau: float | pl.Expr) -> pl.DataFrame:
    """The improved rules' answers and abstentions at another tau, which is above zero."""
    if not isinstance(tau, pl.Expr) and tau <= 0:
        raise ValueError("A threshold must be above zero.")
    probabilities = [f"p_{category}" for category in CATEGORIES]
    highest = pl.max_horizontal(probabilities)
    named = pl.coalesce(
        pl.when(pl.col(column) == highest).then(pl.lit(category))
        for column, category in zip(probabilities, CATEGORIES, strict=True)
    )
    unclear = pl.col("reason").is_in(UNCLEAR).fill_null(False)
    unsure = pl.col("confidence") < tau
    return predictions.with_columns(
        prediction=pl.when(unclear | unsure).then(pl.lit(ABSTAIN)).otherwise(named),
        reason=pl.when(unclear)
        .then("reason")
        .otherwise(pl.when(unsure).then(pl.lit("low_confidence"))),
    )


def lowest_thresholds(
    predictions: pl.DataFrame, taus: Array, precision: float, by: tuple[str, ...]
) -> pl.DataFrame:
    """The lowest tau whose committed answers reach a precision, by group; or nulls."""
    # It commits most often of all that reach it. A scenario counts as often as it is committed on.
    # At a threshold that nothing misses every confidence above zero names its category.
    answers = at_threshold(predictions, ROUNDING).with_columns(
        right=right(), share=1 / pl.len().over(*by, "scenario")
    )
    rows = []
    for key, part in answers.sort(*by).group_by(*by, maintain_order=True):
        share = part["share"].to_numpy()
        answered = (part["prediction"] != ABSTAIN).to_numpy()
        sure = part["confidence"].to_numpy() >= taus[:, None]  # [n_taus, n_predictions]
        committed = (sure & answered) @ share
        correct = (sure & answered & part["right"].to_numpy()) @ share
        reached = np.flatnonzero((committed > 0) & (correct >= (precision - ROUNDING) * committed))
        chosen: dict[str, float | None] = {"tau": None, "precision": None, "coverage": None}
        if len(reached):
            first = reached[np.argmin(taus[reached])]
            chosen["tau"] = float(taus[first])
            chosen["precision"] = float(correct[first] / committed[first])
            chosen["coverage"] = float(committed[first] / share.sum())
        rows.append(dict(zip(by, key, strict=True)) | chosen)
    schema = dict.fromkeys(("tau", "precision", "coverage"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=schema)


ROUTES: tuple[Route, ...] = ("rules", "classifier", "human")
WRONG = len(ROUTES)  # position of the share of wrong answers, behind the routes'


@dataclass(frozen=True)
class RoutedGrid:
    """Who answers, and who is wrong, at every pair of thresholds."""

    classifier_from: Array
    rules_from: Array
    outcomes: ScenarioValues

    def position(self, classifier_from: float, rules_from: float) -> int:
        """Position of a pair."""
        thresholds = np.stack([self.classifier_from, self.rules_from])
        near = np.isclose(thresholds, [[classifier_from], [rules_from]]).all(axis=0)
        return int(np.flatnonzero(near)[0])

    def shares(self, weights: Weights | None = None) -> Array:
        """Shares of the routes and of wrong answers, ``[..., 4, n_pairs]``."""
        sums = self.outcomes.sums(weights)
        counted = once(self.outcomes.seeds) if weights is None else weights
        whole = sum(rows.sum(axis=-1) for rows in counted)
        return np.asarray(sums / np.asarray(whole)[..., None, None])

    def costs(self, position: int, costs: UnitCosts, wrong: float) -> ScenarioValues:
        """Cost per scenario and seed at a pair, and 1: ``[n_rows, 2]`` by category."""
        paid = {
            category: price(outcomes[:, :, position, None], costs, wrong)[:, 0]
            for category, outcomes in self.outcomes.values.items()
        }
        values = {
            name: np.stack([cost, np.ones(len(cost))], axis=-1) for name, cost in paid.items()
        }
        return ScenarioValues(values, self.outcomes.seeds)


def price(shares: Array, costs: UnitCosts, wrong: float) -> Array:
    """Mean cost of a diagnosis, ``[..., n_pairs]``: C_total (section 9.1), and a classifier's."""
    # With nothing for wrong answers, what is wrong costs nothing, and nobody is worth asking.
    by_route = costs.by_route()
    units = np.array([*(by_route[route] for route in ROUTES), wrong])
    return np.asarray(np.tensordot(shares, units, axes=(-2, 0)))


def pairs_of_thresholds(step: float, further: Sequence[float] = ()) -> tuple[Array, Array]:
    """Every pair of multiples of a step from 0 to 1, the first not above the second."""
    steps = np.arange(round(1 / step) + 1) * step
    levels = np.unique(np.round([*steps, *further], 6))[::-1]
    pairs = [(low, high) for high in levels for low in levels if low <= high]
    classifier_from, rules_from = np.array(pairs).T
    return classifier_from, rules_from


def routed_grid(
    rules: pl.DataFrame,
    members: Mapping[Route, pl.DataFrame],
    step: float,
    further: Sequence[float] = (),
) -> RoutedGrid:
    """Route every run at every pair of thresholds, as ``methods.hybrid.Hybrid`` would."""
    # The tau of the rules gives way to ``rules_from``: they name a category at any confidence above
    # it.
    classifier_from, rules_from = pairs_of_thresholds(step, further)
    table = at_threshold(rules, ROUNDING).select(
        *RUN_KEY,
        "category",
        "scenario",
        "seed",
        "confidence",
        unclear=pl.col("reason").is_in(UNCLEAR).fill_null(False),
        rules=right(),
    )
    for route, member in members.items():
        table = table.join(member.select(*RUN_KEY, right().alias(route)), on=RUN_KEY, how="left")
        if table[route].has_nulls():
            problem = "runs that the rules answered are missing."
            remedy = "Run the members of a hybrid over the same study before it."
            raise BadInputError(f"predictions of the {route}", "run_id", problem, remedy)
    parts, seeds = by_category(table.sort(UNIT))
    values = {name: _outcomes(part, classifier_from, rules_from) for name, part in parts.items()}
    return RoutedGrid(classifier_from, rules_from, ScenarioValues(values, seeds))


def _outcomes(runs: pl.DataFrame, classifier_from: Array, rules_from: Array) -> Array:
    """Means over the runs of each scenario and seed, ``[n_rows, 4, n_pairs]``; they are sorted."""
    confidence = runs["confidence"].to_numpy()[:, None]
    unclear = runs["unclear"].to_numpy()[:, None]
    human = unclear | (confidence < classifier_from)  # [n_runs, n_pairs]
    by_rules = ~human & (confidence > rules_from)
    routed = np.stack([by_rules, ~human & ~by_rules, human], axis=1)  # [n_runs, 3, n_pairs]
    correct: npt.NDArray[np.bool_] = runs.select(ROUTES).to_numpy()
    wrong = (routed & ~correct[:, :, None]).any(axis=1, keepdims=True)
    outcomes = np.concatenate([routed, wrong], axis=1).astype(np.float64)
    of_unit = runs.group_by("scenario", "seed", maintain_order=True).len()["len"]
    counts = of_unit.to_numpy().astype(np.intp)
    starts = np.cumsum(counts) - counts
    return np.asarray(np.add.reduceat(outcomes, starts, axis=0) / counts[:, None, None])


Prices = Sequence[tuple[UnitCosts, float]]  # what answers cost, and what a wrong one costs besides
Range = tuple[float, float, float]  # a value, and the lowest and highest of others


def cheapest_in_resamples(
    grid: RoutedGrid, prices: Prices, settings: ScenarioIntervalSettings
) -> Array:
    """The cheapest pair, the first of equals, in resamples: ``[n_prices, n_resamples]``."""
    rng = np.random.default_rng(settings.seed)
    seed_rng = rng.spawn(1)[0]
    positions = []
    for start in range(0, settings.resamples, BATCH):
        drawn = min(BATCH, settings.resamples - start)
        weights = []
        for rows in grid.outcomes.seeds:
            counts = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), drawn)
            weights.append(drawn_seeds(counts.astype(np.float64), rows, seed_rng))
        shares = grid.shares(weights)
        paid = [price(shares, costs, wrong) for costs, wrong in prices]
        positions.append([cost.round(12).argmin(axis=-1) for cost in paid])
    return np.concatenate(positions, axis=-1)


def costs_of_halves(
    grid: RoutedGrid, prices: Prices, measured: int, halves: int, seed: int
) -> Array:
    """Of a half's cheapest pair, costs on both halves, and the study's on the other."""
    # ``[n_prices, 3, n_halves]``
    rng = np.random.default_rng([seed, 1])
    chosen = [random_half(rng, n, halves) for n in grid.outcomes.sizes]
    halved = tuple(zip(chosen, grid.outcomes.seeds, strict=True))
    choosing = grid.shares([all_seeds(half, rows) for half, rows in halved])
    paying = grid.shares([all_seeds(1 - half, rows) for half, rows in halved])
    paid = []
    for costs, wrong in prices:
        promised, asked = (price(half, costs, wrong) for half in (choosing, paying))
        best = promised.round(12).argmin(axis=-1)[:, None]
        pick = partial(np.take_along_axis, indices=best, axis=-1)
        paid.append([pick(promised)[:, 0], pick(asked)[:, 0], asked[:, measured]])
    return np.array(paid)


def random_half(rng: np.random.Generator, n: int, halves: int) -> Array:
    """Which scenarios are in each half, ``[n_halves, n]``: of an odd one, one more or one less."""
    ranks = rng.random((halves, n)).argsort(axis=-1)
    size = n // 2 + (n % 2) * rng.integers(0, 2, (halves, 1))
    return (ranks < size).astype(np.float64)


def uncertainty(
    grid: RoutedGrid, best: int, resampled: Array, confidence: float
) -> dict[str, Range]:
    """The cheapest pair ``best`` with the range of resampled ones, and how many agree."""
    tail, ranges = (1 - confidence) / 2, {}
    for name in ("classifier_from", "rules_from"):
        levels = getattr(grid, name)
        low, high = np.quantile(levels[resampled], (tail, 1 - tail), method="inverted_cdf")
        value = float(levels[best])
        ranges[name] = (value, min(float(low), value), max(float(high), value))
    share = float((resampled == best).mean())
    return {**ranges, "agreement": (share, share, share)}


def optimism(halved: Array, confidence: float) -> dict[str, Range]:
    """What half of the scenarios promise, and what the other half pays: means and ranges."""
    promised, asked, measured = halved
    tail, ranges = (1 - confidence) / 2, {}
    costs = {
        "cost_own_half": promised,
        "cost_other_half": asked,
        "saving_other_half": measured - asked,
    }
    for name, paid in costs.items():
        low, high = np.quantile(paid, (tail, 1 - tail))
        ranges[name] = (float(paid.mean()), float(low), float(high))
    return ranges
