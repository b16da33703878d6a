"""Logistic regression that is solved, so that where it stops is a matter of the data alone.

A solver that stops on a loose tolerance stops somewhere on a flat floor, and which way it came
there is decided by rounding: BLAS libraries add in an order of their own for each kind of
processor. Two stops can be .27 apart in probability. The penalised loss is strictly convex in the
weights, so that its minimum is one point. Newton's method reaches it to within rounding in some ten
steps (Boyd and Vandenberghe, 2004, "Convex optimization", section 9.5), where L-BFGS creeps.
"""

from __future__ import annotations

import warnings
from typing import Any, Final, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from failbench.arrays import Array
from failbench.errors import BadInputError

Solver = Literal["newton-cholesky", "newton-cg"]

TOLERANCE: Final = 1e-12
"""Largest component of the gradient of the mean loss that the solver aims at.

The strength of the penalty, 1 / (C n_runs), is the least curvature there is, and so the weights are
no further from the minimum than the gradient divided by it. Newton's last step is quadratic and
commonly ends far nearer.
"""

SOLVED: Final = 1e-10
"""Largest component at which a fit counts as solved.

The solver may stop short of its aim where sums have no more digits: fits to the words of sixty
runs did so at 1.4e-12. At 1e-10 their probabilities were within 4e-9 of the minimum's.
"""


class ConvergedLogisticRegression(LogisticRegression):  # type: ignore[misc]
    """Multinomial logistic regression with an L2 penalty, by Newton's method until it is solved.

    Parameters
    ----------
    C
        Inverse strength of the penalty.
    solver
        ``newton-cholesky`` factors the whole matrix of second derivatives, as wide as there are
        weights of all categories. ``newton-cg`` never forms it, which it takes where columns are as
        many as runs.
    max_iter
        Steps of Newton's method at most.
    """

    def __init__(
        self, C: float = 1.0, solver: Solver = "newton-cholesky", max_iter: int = 100
    ) -> None:
        super().__init__(C=C, solver=solver, max_iter=max_iter, tol=TOLERANCE)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, or fail: by the gradient where the solver stopped, whatever it says of itself.

        Raises
        ------
        BadInputError
            If the solver did not get to the minimum.
        """
        with warnings.catch_warnings():
            # Solvers warn of steps without progress at the minimum, and some give up without one.
            warnings.simplefilter("ignore")
            super().fit(X, y)
        steepest = float(np.abs(self._gradient(X, y)).max())
        if not steepest <= SOLVED:  # NaN is no solution either
            raise BadInputError(
                "params.yaml",
                "max_iterations",
                f"logistic regression with an inverse penalty of {self.C:g} is not solved after "
                f"{self.n_iter_.max()} steps: the gradient of its loss is still {steepest:.1e}.",
                "Raise max_iterations, or take large values out of inverse_penalty.",
            )
        return self

    def _gradient(self, X: Any, y: Any) -> Array:
        """Of the mean loss with its penalty, the intercept last: ``[n_rows, n_features + 1]``.

        There is a row per category, or, of two categories, one for the second.
        """
        excess = self.predict_proba(X) - (np.asarray(y)[:, None] == self.classes_)
        excess = excess[:, -len(self.coef_) :]
        by_weight = excess.T @ np.asarray(X, dtype=np.float64) + self.coef_ / self.C
        gradient: Array = np.column_stack([by_weight, excess.sum(axis=0)]) / len(excess)
        return gradient
