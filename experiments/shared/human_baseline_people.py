"""People of several skills before the same scenarios, and what studies of such people find."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit

from failbench import study as st

BOUND = 60.0
"""Abilities in logits lie between plus and minus this: a probability of 1e-26 to one."""

Design = Literal["person_a_scenario", "fold", "one_person", "panel"]
"""A person is drawn for each scenario, as the method ``simulated_human`` does; the same over the
scenarios of one fold; one person answers all, so that studies differ as people do; several people
answer all and are averaged."""

DESIGNS: tuple[Design, ...] = get_args(Design)


@dataclass(frozen=True)
class Population:
    """Shares of levels, and how often each is right, ``[n_levels, n_scenarios]``."""

    shares: st.Array
    right: st.Array

    @property
    def marginal(self) -> st.Array:
        """How often a person drawn at random is right, ``[n_scenarios]``."""
        return np.asarray(self.shares @ self.right, dtype=np.float64)


def difficulties(ease: st.Array, cells: int) -> st.Array:
    """Difficulty of scenarios in logits, ``[n_scenarios]``, from shares of right answers.

    The empirical logit of Haldane (1956, "The estimation and significance of the logarithm of a
    ratio of frequencies"), half an answer being added to both sides, which keeps scenarios finite
    that everybody or nobody tells.
    """
    return np.asarray(-logit((ease * cells + 0.5) / (cells + 1)), dtype=np.float64)


def population(
    levels: Mapping[str, st.SkillLevel], difficulty: st.Array, coupling: float
) -> Population:
    """People whose accuracy is that of their level, more on easy scenarios and less on hard ones.

    The model of Rasch (1960, "Probabilistic models for some intelligence and attainment tests"):
    the logit of being right is the ability of the level less the difficulty of the scenario. The
    ability is what makes the mean over the scenarios the accuracy of the level, so that whatever
    the coupling, the population is as good as the paper says.
    """
    felt = coupling * difficulty
    return Population(
        np.array([level.share for level in levels.values()]),
        np.stack([_of_level(level.accuracy, felt) for level in levels.values()]),
    )


def _of_level(accuracy: float, felt: st.Array) -> st.Array:
    if accuracy == 1:
        return np.ones_like(felt)
    reach = BOUND + float(np.abs(felt).max())
    ability = brentq(lambda each: float(expit(each - felt).mean()) - accuracy, -reach, reach)
    return np.asarray(expit(ability - felt), dtype=np.float64)


def simulate(
    people: Population, design: Design, size: int, studies: int, rng: np.random.Generator
) -> st.Array:
    """Accuracy in each of many studies, ``[n_studies]``, of folds or panels of this size."""
    if design == "one_person":
        return _one_person(people, studies, rng)
    if design == "panel":
        members = [_one_person(people, studies, rng) for _ in range(size)]
        return np.asarray(np.mean(members, axis=0))
    shape = (studies, people.right.shape[1])
    levels = rng.choice(len(people.shares), size=shape, p=people.shares)
    right = rng.random(shape) < np.take_along_axis(people.right, levels, axis=0)
    if design == "fold":
        tested = rng.permuted(np.broadcast_to(np.arange(shape[1]), shape), axis=1)
        right = np.take_along_axis(right, tested[:, :size], axis=1)
    return np.asarray(right.mean(axis=1))


def _one_person(people: Population, studies: int, rng: np.random.Generator) -> st.Array:
    skills = people.right[rng.choice(len(people.shares), size=studies, p=people.shares)]
    return np.asarray((rng.random(skills.shape) < skills).mean(axis=1))


def spread(people: Population, design: Design, size: int) -> float:
    """Standard deviation of accuracy between studies of these scenarios, by formula.

    The law of total variance over the drawing of people; of a fold also over that of its
    scenarios, without replacement (Cochran, 1977, "Sampling techniques", chapter 2).
    """
    right, shares, marginal = people.right, people.shares, people.marginal
    n = right.shape[1]
    within = float((marginal * (1 - marginal)).mean())
    one_person = skill_spread(people) ** 2 + float(shares @ (right * (1 - right)).mean(axis=1)) / n
    drawn = float(marginal.var()) * (n - size) / max(n - 1, 1)
    variances: dict[Design, float] = {
        "person_a_scenario": within / n,
        "fold": (within + drawn) / size,
        "one_person": one_person,
        "panel": one_person / size,
    }
    return float(np.sqrt(variances[design]))


def skill_spread(people: Population) -> float:
    """Standard deviation of skill between people: what is left of it in endless studies."""
    skills = people.right.mean(axis=1)
    mean = float(people.shares @ skills)
    return float(np.sqrt(people.shares @ (skills - mean) ** 2))


def spread_bounds(accuracies: st.Array, confidence: float) -> tuple[float, float]:
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
