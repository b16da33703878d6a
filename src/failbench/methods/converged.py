"""Logistic regression fitted to convergence, so that the fit depends on the data alone."""

# A solver with a loose tolerance stops somewhere on a flat region of the loss, where rounding
# decides (probabilities of two fits differed by 0.27). The penalised loss is strictly convex;
# Newton's method reaches its minimum to within rounding in ten steps (Boyd and Vandenberghe, 2004,
# section 9.5).

from __future__ import annotations

import warnings
from typing import Any, Final, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError

Solver = Literal["newton-cholesky", "newton-cg"]

TOLERANCE: Final = 1e-12
"""Largest gradient aimed at; over the penalty's 1 / (C n_runs) it bounds the weights' distance."""

CONVERGED: Final = 1e-10
"""Largest gradient of a converged fit. At it, probabilities were within 4e-9 of the minimum's."""
# The solver may stop short of ``TOLERANCE`` at the limit of floating point: at 1.4e-12 on texts.


class ConvergedLogisticRegression(LogisticRegression):  # type: ignore[misc]
    """Multinomial logistic regression with an L2 penalty, by Newton's method to convergence."""

    def __init__(
        self, C: float = 1.0, solver: Solver = "newton-cholesky", max_iter: int = 100
    ) -> None:
        super().__init__(C=C, solver=solver, max_iter=max_iter, tol=TOLERANCE)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, and check convergence by the gradient rather than by the solver's own status."""
        with warnings.catch_warnings():
            # Solvers warn of steps without progress at the minimum, and some stop early silently.
            warnings.simplefilter("ignore")
            super().fit(X, y)
        largest = float(np.abs(self._gradient(X, y)).max())
        if not largest <= CONVERGED:  # also true of NaN
            raise BadInputError(
                "params.yaml",
                "max_iterations",
                f"logistic regression with an inverse penalty of {self.C:g} did not converge in "
                f"{self.n_iter_.max()} steps: the gradient of its loss is still {largest:.1e}.",
                "Raise max_iterations, or take large values out of inverse_penalty.",
            )
        return self

    def _gradient(self, X: Any, y: Any) -> Array:
        """Gradient of the mean loss, the intercept last; a row a category, of two the second."""
        excess = self.predict_proba(X) - (np.asarray(y)[:, None] == self.classes_)
        excess = excess[:, -len(self.coef_) :]
        by_weight = excess.T @ np.asarray(X, dtype=np.float64) + self.coef_ / self.C
        gradient: Array = np.column_stack([by_weight, excess.sum(axis=0)]) / len(excess)
        return gradient
