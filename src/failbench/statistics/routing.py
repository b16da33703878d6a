"""Routing: who answers a run at every pair of thresholds of the three-way hybrid, and the price.

The members of the hybrid answer each run whether or not it is handed on to them, so that stored
predictions tell every hybrid of every pair of thresholds at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.predictions import RUN_KEY
from failbench.base.vocabulary import CATEGORIES, Route
from failbench.statistics.commitment import ROUNDING, UNCLEAR, at_threshold
from failbench.statistics.costs import UnitCosts
from failbench.statistics.row_weights import Weights, once, seed_counts
from failbench.statistics.scenario_values import ScenarioValues, right

ROUTES: tuple[Route, ...] = ("rules", "classifier", "human")
WRONG = len(ROUTES)
"""Position of the share of wrong answers, behind the shares of the routes."""


@dataclass(frozen=True)
class RoutedGrid:
    """Who answers, and who is wrong, at every pair of thresholds."""

    classifier_from: Array
    rules_from: Array
    outcomes: ScenarioValues

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scenarios of each category."""
        return tuple(len(rows) for rows in self.outcomes.seeds)

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
    """Mean cost of a diagnosis, from shares ``[..., 4, n_pairs]`` to ``[..., n_pairs]``.

    With nothing for wrong answers it is the paper's C_total (section 9.1), extended by the
    classifier; what is wrong then costs nothing, and nobody is worth asking.
    """
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
    """Route every run at every pair of thresholds, as ``methods.hybrid.Hybrid`` would.

    The tau of the rules gives way to ``rules_from``: they name a category at any confidence above
    it. At or above tau that is the hybrid of the main study.
    """
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
            raise BadInputError(
                f"predictions of the {route}",
                "run_id",
                "runs that the rules answered are missing.",
                "Run the members of a hybrid over the same study before it.",
            )
    table = table.sort("category", "scenario", "seed")
    values: dict[str, Array] = {}
    seeds = []
    for category in CATEGORIES:
        part = table.filter(pl.col("category") == category)
        if part.height:
            values[category] = _outcomes(part, classifier_from, rules_from)
            seeds.append(seed_counts(part))
    return RoutedGrid(classifier_from, rules_from, ScenarioValues(values, tuple(seeds)))


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
    counts = (
        runs.group_by("scenario", "seed", maintain_order=True)
        .len()["len"]
        .to_numpy()
        .astype(np.intp)
    )
    starts = np.cumsum(counts) - counts
    return np.asarray(np.add.reduceat(outcomes, starts, axis=0) / counts[:, None, None])
