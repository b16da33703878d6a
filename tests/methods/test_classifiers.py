"""How settings are chosen, what reaches the steps of a pipeline, and models that are solved."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods import tuned_classifier
from failbench.methods.boosting_machine import TRAINED, VALIDATED, group_bags
from failbench.methods.catalogue import method_named
from failbench.methods.forest import Forest
from failbench.methods.tuned_classifier import ConvergedLogisticRegression, TunedClassifier, imputed


def test_inner_folds_never_part_the_runs_of_a_scenario(fit, monkeypatch):
    parted = []
    split = StratifiedGroupKFold.split

    def watched(self, X, y=None, groups=None):
        for train, test in split(self, X, y, groups):
            parted.append(set(groups[train]) & set(groups[test]))
            yield train, test

    monkeypatch.setattr(StratifiedGroupKFold, "split", watched)
    fit("decision_tree")
    assert parted == [set(), set()]


def test_only_the_columns_of_a_feature_set_are_read(fitted, runs):
    """Of a measurement the baseline sees whether it was made."""
    frame = runs[0]
    measured = [name for name in FEATURE_SETS["19"] if name != "steps_before_failure"]
    others = dict.fromkeys(frame.columns.difference(FEATURE_SETS["19"]), 1.0)
    for name, changes in (
        ("random_forest", others),
        ("symptom_baseline", {each: frame[each] * 100 + 3 for each in measured}),
    ):
        expected = fitted(name).predict_proba(frame)
        assert fitted(name).predict_proba(frame.assign(**changes)).tolist() == expected.tolist()


def test_logistic_regression_converges_whatever_the_columns_are(context, runs, repository):
    """Constant, missing and huge columns, at the settings of the study."""
    frame, labels, groups = runs
    frame = frame.assign(
        batch_size=16.0, oov_rate=np.nan, gradient_norm_variance=10.0 ** (np.arange(60) % 13)
    )
    declaration = method_named("logistic_regression")
    settings = read_section("logistic_regression", declaration.settings, repository / "params.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method = declaration.build(settings, context).fit(frame, labels, groups)
        assert np.isfinite(method.predict_proba(frame)).all()


class AsksForGroups(DummyClassifier):
    received: ClassVar = []

    def fit(self, X, y, groups=None):
        self.groups_ = groups
        self.received.append((len(X), len(groups)))
        return super().fit(X, y)


class Answers(DummyClassifier):
    """Gives all runs the same probabilities, and is right about a set share of them."""

    def __init__(self, probabilities=(0.2, 0.2, 0.2, 0.2, 0.2), constant=None):
        super().__init__()
        self.probabilities = probabilities
        self.constant = constant

    def predict_proba(self, X):
        order = [CATEGORIES.index(category) for category in self.classes_]
        return np.tile(np.array(self.probabilities)[order], (len(X), 1))


def tuned(classifier, grid):
    steps = [("impute", imputed(FEATURE_SETS["19"])), ("classify", classifier)]
    return TunedClassifier(Pipeline(steps), grid, inner_folds=2, seed=0, explain=None)


@pytest.mark.parametrize(("more", "answer"), [(1e-9, "optimization"), (2e-6, "data_pipeline")])
def test_probabilities_that_differ_by_less_than_stored_decimals_are_equal(runs, more, answer):
    """Of equal ones the first category is the answer."""
    frame, labels, groups = runs
    step = tuned(Answers((0.1, 0.3, 0.3 + more, 0.2, 0.1)), {}).fit(frame, labels, groups)
    diagnoses = step.diagnose(frame)
    assert set(step.predict(frame)) == {each.category for each in diagnoses} == {answer}
    assert {each.confidence for each in diagnoses} == {round(0.3 + more, 6)}


@pytest.mark.parametrize(
    ("accuracies", "taken"),
    [([0.5, 0.5 + 1e-15, 0.4], 0), ([0.5 - 1e-15, 0.5], 0), ([0.5, 0.51], 1), ([0.4, 0.5, 0.5], 1)],
)
def test_among_settings_that_differ_only_by_rounding_the_first_is_chosen(
    runs, monkeypatch, accuracies, taken
):
    def accuracy(pipeline, X, y):
        return accuracies[pipeline["classify"].constant]

    monkeypatch.setattr(tuned_classifier, "_accuracy", accuracy)
    grid = {"classify__constant": tuple(range(len(accuracies)))}
    step = tuned(Answers(), grid).fit(*runs)
    assert step.pipeline_["classify"].constant == taken


@pytest.mark.parametrize("strategies", [("prior",), ("prior", "stratified")])
def test_each_fit_receives_the_scenarios_of_its_own_runs(runs, strategies, monkeypatch):
    frame, labels, groups = runs
    monkeypatch.setattr(AsksForGroups, "received", [])
    grid = {"classify__strategy": strategies}
    step = tuned(AsksForGroups(random_state=0), grid).fit(frame, labels, groups)
    assert step.pipeline_["classify"].groups_.tolist() == groups.tolist()
    inner = [(30, 30)] * 2 * len(strategies) if len(strategies) > 1 else []
    assert AsksForGroups.received == [*inner, (60, 60)]


def test_a_scenario_stays_together_validated_on_in_one_bag_and_trained_on_in_the_others(runs):
    _, labels, groups = runs
    bags = group_bags(labels, groups, 4, seed=0)
    for scenario in np.unique(groups):
        assert len(np.unique(bags[groups == scenario], axis=0)) == 1
    assert (bags == VALIDATED).sum(axis=1).tolist() == [1] * 60
    assert (bags == TRAINED).sum(axis=1).tolist() == [3] * 60

    # a category of a single scenario is trained on in every bag
    labels = np.array(["a"] * 2 + ["b"] * 8, dtype=object)
    groups = np.array(["x"] * 2 + [f"y{index // 2}" for index in range(8)])
    marks = group_bags(labels, groups, 4, 0)
    assert (marks[:2] == TRAINED).all()
    assert ((marks[2:] == VALIDATED).sum(axis=1) == 1).all()


both_solvers = pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])


@pytest.fixture
def data():
    """Three categories that overlap; some columns repeat others."""
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
def test_a_fit_is_a_minimum_that_no_rounding_or_order_moves(data, solver, penalty):
    """The stored six decimals are four orders of magnitude away."""
    values, labels = data
    first = ConvergedLogisticRegression(C=penalty, solver=solver).fit(values, labels)
    assert np.abs(gradient(first, values, labels)).max() < 2e-12
    order = np.random.default_rng(1).permutation(60)
    noisy = values * (1 + 1e-15 * np.random.default_rng(2).choice([-1, 1], values.shape))
    second = ConvergedLogisticRegression(C=penalty, solver=solver).fit(noisy[order], labels[order])
    assert np.abs(first.predict_proba(values) - second.predict_proba(values)).max() < 1e-10


@both_solvers
def test_a_fit_that_does_not_converge_is_an_error(data, solver, monkeypatch):
    model = ConvergedLogisticRegression(C=100.0, solver=solver, max_iter=2)
    with pytest.raises(BadInputError, match=r"max_iterations: .* 100 did not converge in 2 steps"):
        model.fit(*data)
    fit = LogisticRegression.fit

    def stops_early(self, X, y):
        self.__dict__.update(tol=1e-4)
        return fit(self, X, y)

    monkeypatch.setattr(LogisticRegression, "fit", stops_early)
    with pytest.raises(BadInputError, match="did not converge"):
        ConvergedLogisticRegression(solver="newton-cg").fit(*data)


@pytest.mark.parametrize("max_features", ["sqrt", "log2", 0.5])
@pytest.mark.parametrize(("least", "missing"), [(1, False), (3, False), (1, True)])
def test_the_forest_is_that_of_scikit_learn_tree_for_tree(max_features, least, missing):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(90, 7))
    columns[:, 2] = columns[:, 2].round()
    labels, others = rng.choice(list("abc"), 90), rng.normal(size=(40, 7))
    columns[::7, 3], others[::5, 3:] = (np.nan, np.nan) if missing else (0.0, 0.0)
    asked = {"max_features": max_features, "min_samples_leaf": least, "random_state": 5}
    ours, theirs = (
        kind(9, **asked).fit(columns, labels) for kind in (Forest, RandomForestClassifier)
    )
    for one, other in zip(ours, theirs, strict=True):
        for name in ("feature", "threshold", "value", "children_left"):
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))
    np.testing.assert_array_equal(ours.predict_proba(others), theirs.predict_proba(others))
    np.testing.assert_array_equal(ours.predict(others), theirs.predict(others))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    assert (ours.decision_path(others)[0] != theirs.decision_path(others)[0]).nnz == 0
