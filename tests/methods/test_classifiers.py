"""How settings are chosen, and what reaches the steps of a pipeline."""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline

from failbench.base.params import read_section
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods import tuned_classifier
from failbench.methods.catalogue import method_named
from failbench.methods.tuned_classifier import TunedClassifier, imputed


def test_a_missing_value_becomes_the_median_of_training_runs_and_no_column_is_lost():
    train = pd.DataFrame({"a": [1.0, 2.0, 9.0], "b": [np.nan] * 3, "other": [7.0] * 3})
    test = pd.DataFrame({"a": [np.nan], "b": [5.0], "other": [7.0]})
    step = imputed(["a", "b"]).fit(train)
    assert step.transform(test).tolist() == [[2.0, 5.0]]
    assert step.transform(train).tolist() == [[1.0, 0.0], [2.0, 0.0], [9.0, 0.0]]


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


def test_only_the_columns_of_a_feature_set_are_read_and_no_measurement_by_the_baseline(
    fitted, runs
):
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
    """Keeps the groups that its fit received; a dummy otherwise."""

    __metadata_request__fit: ClassVar = {"groups": True}
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


def test_a_search_scores_answers_as_they_are_given(runs):
    """By its raw probabilities the second setting would be right about ``optimization`` alike."""
    frame, _, groups = runs
    labels = np.array(["optimization", "data_pipeline"] * 30, dtype=object)
    labels[:12] = "data_pipeline"
    settings = ((0.0, 0.5, 0.5 + 1e-9, 0.0, 0.0), (0.0, 0.4, 0.6, 0.0, 0.0))
    step = tuned(Answers(), {"classify__probabilities": settings}).fit(frame, labels, groups)
    assert step.pipeline_["classify"].probabilities == settings[1]


@pytest.mark.parametrize(
    ("accuracies", "taken"),
    [([0.5, 0.5 + 1e-15, 0.4], 0), ([0.5 - 1e-15, 0.5], 0), ([0.5, 0.51], 1), ([0.4, 0.5, 0.5], 1)],
)
def test_among_settings_that_differ_only_by_rounding_the_first_is_chosen(
    runs, monkeypatch, accuracies, taken
):
    """Settings have given scores, equal in each inner fold."""
    frame, labels, groups = runs
    monkeypatch.setattr(
        tuned_classifier,
        "_accuracy",
        lambda pipeline, X, y: accuracies[pipeline["classify"].constant],
    )
    grid = {"classify__constant": tuple(range(len(accuracies)))}
    step = tuned(Answers(), grid).fit(frame, labels, groups)
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
