"""Human skill: how often people of a level tell a scenario, given how hard it is to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from failbench.arrays import Array
from failbench.methods.simulated_human import SkillLevel

BOUND = 60.0
"""Abilities in logits lie between plus and minus this: a probability of 1e-26 to one."""


@dataclass(frozen=True)
class Population:
    """People of several levels before the same scenarios."""

    shares: Array
    right: Array

    @property
    def marginal(self) -> Array:
        """How often a person drawn at random is right, ``[n_scenarios]``."""
        return np.asarray(self.shares @ self.right, dtype=np.float64)

    @property
    def mean(self) -> float:
        """Accuracy of the population over the scenarios."""
        return float(self.marginal.mean())


def difficulties(ease: Array, cells: int) -> Array:
    """Difficulty of scenarios in logits, ``[n_scenarios]``, from shares of right answers.

    The empirical logit of Haldane (1956, "The estimation and significance of the logarithm of a
    ratio of frequencies"), half an answer being added to both sides, which keeps scenarios finite
    that everybody or nobody tells.
    """
    return np.asarray(-logit((ease * cells + 0.5) / (cells + 1)), dtype=np.float64)


def population(levels: Mapping[str, SkillLevel], difficulty: Array, coupling: float) -> Population:
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


def _of_level(accuracy: float, felt: Array) -> Array:
    if accuracy == 1:
        return np.ones_like(felt)
    reach = BOUND + float(np.abs(felt).max())

    def excess(ability: float) -> float:
        return float(expit(ability - felt).mean()) - accuracy

    ability = brentq(excess, -reach, reach)
    return np.asarray(expit(ability - felt), dtype=np.float64)
