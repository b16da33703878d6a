"""Logistic fits of a share on some numbers, for many resamples at once and finite for any data.

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

from failbench.base.arrays import Array

STEPS: Final = 60
"""Of Newton's method at most."""

LONGEST_STEP: Final = 2.0
"""Of a coefficient in one step, on the scale of numbers with standard deviation one."""

ENOUGH: Final = 1e-9
"""A step below this ends the fit."""


def firth_fit(numbers: Array, successes: Array, trials: Array) -> Array:
    """Intercept and slopes of logits on some numbers."""
    centre, spread = numbers.mean(axis=0), numbers.std(axis=0)
    design = np.column_stack([np.ones(len(numbers)), (numbers - centre) / spread])
    coefficients = np.zeros((len(successes), design.shape[1]))
    for _ in range(STEPS):
        fitted = expit(coefficients @ design.T)
        weights = trials * fitted * (1 - fitted)
        information = np.einsum("dg,gi,gj->dij", weights, design, design)
        inverse = np.linalg.pinv(information, hermitian=True)  # numbers may go together
        leverage = weights * np.einsum("gi,dij,gj->dg", design, inverse, design)
        score = (successes - trials * fitted + leverage * (0.5 - fitted)) @ design
        step = np.einsum("dij,dj->di", inverse, score).clip(-LONGEST_STEP, LONGEST_STEP)
        coefficients = coefficients + step
        if np.abs(step).max() < ENOUGH:
            break
    slopes = coefficients[:, 1:] / spread
    return np.column_stack([coefficients[:, 0] - slopes @ centre, slopes])
