"""Logistic fits of a share on one number, for many resamples at once and finite for any data.

Firth (1993, "Bias reduction of maximum likelihood estimates", Biometrika 80) adds to each score
half of what the leverage of an observation is worth, which keeps the fit finite where shares are
all 0 on one side and all 1 on the other (Heinze and Schemper, 2002, "A solution to the problem of
separation in logistic regression", Statistics in Medicine 21): the case of a sharp cliff. No kept
library has it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit

from failbench.arrays import Array

STEPS: Final = 60
"""Of Newton's method at most."""

LONGEST_STEP: Final = 2.0
"""Of a coefficient in one step, on the scale of numbers with standard deviation one."""

ENOUGH: Final = 1e-9
"""A step below this ends the fit."""


def firth_fit(numbers: Array, successes: Array, trials: Array) -> Array:
    """Intercepts and slopes of logits on a number.

    Parameters
    ----------
    numbers
        At least two different ones, ``[n_groups]``.
    successes, trials
        Of each group in every resample, which need not be whole, ``[n_draws, n_groups]``.

    Returns
    -------
    Array
        ``[n_draws, 2]``.
    """
    centre, spread = numbers.mean(), numbers.std()
    scaled = (numbers - centre) / spread
    design = np.stack([np.ones_like(scaled), scaled])  # [2, n_groups]
    coefficients = np.zeros((len(successes), 2))
    for _ in range(STEPS):
        fitted = expit(coefficients[:, :1] + coefficients[:, 1:] * scaled)
        weights = trials * fitted * (1 - fitted)
        inverse = _inverse(weights, scaled)
        leverage = weights * (
            inverse[:, 0, None] + 2 * inverse[:, 1, None] * scaled + inverse[:, 2, None] * scaled**2
        )
        residual = successes - trials * fitted + leverage * (0.5 - fitted)
        score = np.stack([(residual * row).sum(axis=1) for row in design], axis=1)
        step = np.stack(
            [
                inverse[:, 0] * score[:, 0] + inverse[:, 1] * score[:, 1],
                inverse[:, 1] * score[:, 0] + inverse[:, 2] * score[:, 1],
            ],
            axis=1,
        )
        coefficients = coefficients + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < ENOUGH:
            break
    slope = coefficients[:, 1] / spread
    return np.stack([coefficients[:, 0] - slope * centre, slope], axis=1)


def _inverse(weights: Array, scaled: Array) -> Array:
    """The inverse of the information, as its three different entries, ``[n_draws, 3]``."""
    a = weights.sum(axis=1)
    b = (weights * scaled).sum(axis=1)
    c = (weights * scaled**2).sum(axis=1)
    determinant = np.maximum(a * c - b * b, 1e-12)
    return np.stack([c / determinant, -b / determinant, a / determinant], axis=1)
