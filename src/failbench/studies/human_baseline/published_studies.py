"""Human studies: what a study of simulated people would have found, many times over.

Four designs, which differ in who answers what. The spread of each has a formula, and the simulation
is there for the whole distribution and as a check of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import stats

from failbench.arrays import Array
from failbench.studies.human_baseline.human_skill import Population

Design = Literal["person_a_scenario", "fold", "one_person", "panel"]

DESIGNS: tuple[Design, ...] = get_args(Design)


@dataclass(frozen=True)
class StudySize:
    """How many scenarios a fold has, and how many people a panel."""

    fold: int
    panel: int


def simulate(
    people: Population, design: Design, size: StudySize, studies: int, rng: np.random.Generator
) -> Array:
    """Accuracy in each of many studies, ``[n_studies]``.

    ``person_a_scenario``
        A person is drawn for each scenario, as the method ``simulated_human`` does.
    ``fold``
        The same, over scenarios drawn for one fold.
    ``one_person``
        One person answers all scenarios: studies differ as people do.
    ``panel``
        Several people answer all scenarios, and are averaged.
    """
    draw: dict[Design, Callable[[], Array]] = {
        "person_a_scenario": lambda: _strangers(people, studies, rng).mean(axis=1),
        "fold": lambda: _fold(_strangers(people, studies, rng), size.fold, rng),
        "one_person": lambda: _one_person(people, studies, rng),
        "panel": lambda: np.mean(
            [_one_person(people, studies, rng) for _ in range(size.panel)], axis=0
        ),
    }
    return np.asarray(draw[design](), dtype=np.float64)


def _strangers(people: Population, studies: int, rng: np.random.Generator) -> Array:
    """Whether another person is right on each scenario, ``[n_studies, n_scenarios]``."""
    shape = (studies, people.right.shape[1])
    levels = rng.choice(len(people.shares), size=shape, p=people.shares)
    skills = np.take_along_axis(people.right, levels, axis=0)
    return np.asarray(rng.random(shape) < skills, dtype=np.float64)


def _fold(right: Array, size: int, rng: np.random.Generator) -> Array:
    tested = rng.permuted(np.broadcast_to(np.arange(right.shape[1]), right.shape), axis=1)
    return np.asarray(np.take_along_axis(right, tested[:, :size], axis=1).mean(axis=1))


def _one_person(people: Population, studies: int, rng: np.random.Generator) -> Array:
    levels = rng.choice(len(people.shares), size=studies, p=people.shares)
    skills = people.right[levels]
    return np.asarray((rng.random(skills.shape) < skills).mean(axis=1))


def spread(people: Population, design: Design, size: StudySize) -> float:
    """Standard deviation of accuracy between studies of these scenarios, by formula.

    The law of total variance over the drawing of people; of a fold also over that of its
    scenarios, without replacement (Cochran, 1977, "Sampling techniques", chapter 2).
    """
    right, shares, marginal = people.right, people.shares, people.marginal
    n = right.shape[1]
    within = float((marginal * (1 - marginal)).mean())
    one_person = skill_spread(people) ** 2 + float(shares @ (right * (1 - right)).mean(axis=1)) / n
    drawn = float(marginal.var()) * (n - size.fold) / max(n - 1, 1)
    variances: dict[Design, float] = {
        "person_a_scenario": within / n,
        "fold": (within + drawn) / size.fold,
        "one_person": one_person,
        "panel": one_person / size.panel,
    }
    return float(np.sqrt(variances[design]))


def skill_spread(people: Population) -> float:
    """Standard deviation of skill between people: what is left of it in endless studies."""
    skills = people.right.mean(axis=1)
    mean = float(people.shares @ skills)
    return float(np.sqrt(people.shares @ (skills - mean) ** 2))


def spread_bounds(accuracies: Array, confidence: float) -> tuple[float, float]:
    """How exactly a simulation gives a standard deviation: normal bounds.

    Its standard error is that of Cramer (1946, "Mathematical methods of statistics", section 27.7)
    from the second and the fourth central moment, whatever the distribution.
    """
    deviation = float(accuracies.std())
    if deviation == 0:
        return 0.0, 0.0
    excess = max(float(stats.moment(accuracies, 4)) - deviation**4, 0.0)
    error = float(np.sqrt(excess / len(accuracies))) / (2 * deviation)
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * error
    return max(deviation - reach, 0.0), deviation + reach
