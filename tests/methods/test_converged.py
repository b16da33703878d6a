"""Logistic regression that is solved: against its own gradient, other solvers and other orders."""

import numpy as np
import pytest
from processors import NATIVE, OLDEST, CannotExecuteError, differences, refitted
from sklearn.linear_model import LogisticRegression

from failbench.base.errors import BadInputError
from failbench.methods.converged import ConvergedLogisticRegression

both_solvers = pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])


@pytest.fixture
def data():
    """Sixty runs of three categories that overlap; some columns repeat others."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 20)
    values = rng.normal(size=(60, 12)) + 0.3 * np.repeat(np.arange(3.0), 20)[:, None]
    values[:, 8:] = values[:, :4] + 1e-3 * values[:, 8:]
    return values, labels


def gradient(model, values, labels):
    """Of the mean loss with its penalty, ``[n_classes, n_columns]``."""
    excess = model.predict_proba(values) - (labels[:, None] == model.classes_)
    return (excess.T @ values + model.coef_ / model.C) / len(values)


@both_solvers
@pytest.mark.parametrize("penalty", [0.01, 1.0, 1000.0])
def test_a_fit_is_a_minimum_and_no_rounding_or_order_of_runs_moves_a_probability(
    data, solver, penalty
):
    """The stored six decimals are four orders of magnitude away."""
    values, labels = data
    first = ConvergedLogisticRegression(C=penalty, solver=solver).fit(values, labels)
    assert np.abs(gradient(first, values, labels)).max() < 2e-12
    order = np.random.default_rng(1).permutation(60)
    noisy = values * (1 + 1e-15 * np.random.default_rng(2).choice([-1, 1], values.shape))
    second = ConvergedLogisticRegression(C=penalty, solver=solver).fit(noisy[order], labels[order])
    assert np.abs(first.predict_proba(values) - second.predict_proba(values)).max() < 1e-10


@both_solvers
def test_a_fit_that_does_not_converge_is_an_error_that_names_the_remedy(data, solver):
    model = ConvergedLogisticRegression(C=100.0, solver=solver, max_iter=2)
    with pytest.raises(BadInputError, match=r"max_iterations: .* 100 did not converge in 2 steps"):
        model.fit(*data)


def test_a_solver_that_stops_early_without_a_warning_is_detected(data, monkeypatch):
    fit = LogisticRegression.fit

    def stops_early(self, X, y):
        self.__dict__.update(tol=1e-4)
        return fit(self, X, y)

    monkeypatch.setattr(LogisticRegression, "fit", stops_early)
    with pytest.raises(BadInputError, match="did not converge"):
        ConvergedLogisticRegression(solver="newton-cg").fit(*data)


@pytest.mark.system
def test_predictions_of_a_few_folds_are_those_of_another_processor(tmp_path):
    """The rest is in tests/system/test_kernels.py."""
    folders = {NATIVE: tmp_path / "native", OLDEST: tmp_path / "oldest"}
    for folder in folders.values():
        folder.mkdir()
    try:
        native, oldest = (refitted(each, "few", folder) for each, folder in folders.items())
    except CannotExecuteError as error:
        pytest.skip(str(error))
    assert differences(oldest, native) == {}
