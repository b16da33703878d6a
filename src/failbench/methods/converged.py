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

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from failbench.errors import BadInputError

Solver = Literal["newton-cholesky", "newton-cg"]

TOLERANCE: Final = 1e-12
"""Largest component of the gradient of the mean loss at which a fit counts as solved.

The strength of the penalty, 1 / (C n_runs), is the least curvature there is, and so the weights are
no further from the minimum than the gradient divided by it. Newton's last step is quadratic and
commonly ends far nearer.
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, or fail.

        Raises
        ------
        BadInputError
            If the solver did not get to the minimum.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                super().fit(X, y, sample_weight)
            except ConvergenceWarning as warning:
                raise BadInputError(
                    "params.yaml",
                    "max_iterations",
                    f"logistic regression with an inverse penalty of {self.C:g} did not converge "
                    f"in {self.max_iter} steps.",
                    "Raise max_iterations, or take large values out of inverse_penalty.",
                ) from warning
        return self
