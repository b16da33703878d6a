"""How settings are chosen, and what reaches the steps of a pipeline."""

from __future__ import annotations

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


def test_missing_values_become_the_median_of_training_runs():
    train = pd.DataFrame({"a": [1.0, 2.0, 9.0], "b": [np.nan] * 3, "other": [7.0] * 3})
    test = pd.DataFrame({"a": [np.nan], "b": [5.0], "other": [7.0]})
    assert imputed(["a", "b"]).fit(train).transform(test).tolist() == [[2.0, 5.0]]


def test_a_feature_that_no_training_run_has_keeps_its_column():
    train = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, np.nan]})
    assert imputed(["a", "b"]).fit_transform(train).tolist() == [[1.0, 0.0], [2.0, 0.0]]


def test_inner_folds_never_part_the_runs_of_a_scenario(context, settings_of, runs, monkeypatch):
    frame, labels, groups = runs
    parted: list[set[str]] = []
    split = StratifiedGroupKFold.split

    def watched(self, X, y=None, groups=None):
        for train, test in split(self, X, y, groups):
            parted.append(set(groups[train]) & set(groups[test]))
            yield train, test

    monkeypatch.setattr(StratifiedGroupKFold, "split", watched)
    method_named("decision_tree").build(settings_of("decision_tree"), context).fit(
        frame, labels, groups
    )
    assert parted == [set(), set()]


def test_only_the_columns_of_the_feature_set_are_read(context, settings_of, runs):
    frame, labels, groups = runs
    method = method_named("random_forest").build(settings_of("random_forest"), context)
    method.fit(frame, labels, groups)
    changed = frame.copy()
    others = [name for name in frame.columns if name not in FEATURE_SETS["19"]]
    changed[others] = 1.0
    assert method.predict_proba(changed).tolist() == method.predict_proba(frame).tolist()


def test_the_symptom_baseline_reads_no_measurement(context, settings_of, runs):
    frame, labels, groups = runs
    method = method_named("symptom_baseline").build(settings_of("symptom_baseline"), context)
    method.fit(frame, labels, groups)
    measured = [name for name in FEATURE_SETS["19"] if name != "steps_before_failure"]
    changed = frame.copy()
    changed[measured] = frame[measured] * 100 + 3
    assert method.predict_proba(changed).tolist() == method.predict_proba(frame).tolist()


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
        probabilities = method.predict_proba(frame)
    assert np.isfinite(probabilities).all()


class AsksForGroups(DummyClassifier):
    """Keeps the groups that its fit received; a dummy otherwise."""

    __metadata_request__fit: ClassVar = {"groups": True}

    def fit(self, X, y, groups=None):
        self.groups_ = groups
        self.rows_ = len(X)
        return super().fit(X, y)


class AcceptsAnyConstant(DummyClassifier):
    """A dummy whose ``constant`` names a setting and does nothing."""


def tuned(classifier, grid, explain=None) -> TunedClassifier:
    steps = [("impute", imputed(FEATURE_SETS["19"])), ("classify", classifier)]
    return TunedClassifier(Pipeline(steps), grid, inner_folds=2, seed=0, explain=explain)


class Answers(DummyClassifier):
    """Gives all runs the same probabilities, and is right about a set share of them."""

    def __init__(self, probabilities=(0.2, 0.2, 0.2, 0.2, 0.2)):
        super().__init__()
        self.probabilities = probabilities

    def predict_proba(self, X):
        order = [CATEGORIES.index(category) for category in self.classes_]
        return np.tile(np.array(self.probabilities)[order], (len(X), 1))


def test_among_probabilities_that_differ_only_by_rounding_the_first_category_is_the_answer(runs):
    frame, labels, groups = runs
    step = tuned(Answers((0.1, 0.3, 0.3 + 1e-9, 0.2, 0.1)), {}).fit(frame, labels, groups)
    assert set(step.predict(frame)) == {"optimization"}
    diagnoses = step.diagnose(frame)
    assert {diagnosis.category for diagnosis in diagnoses} == {"optimization"}
    assert {diagnosis.confidence for diagnosis in diagnoses} == {0.3}


def test_what_is_further_apart_than_stored_decimals_is_answered_by_the_larger(runs):
    frame, labels, groups = runs
    step = tuned(Answers((0.1, 0.3, 0.3 + 2e-6, 0.2, 0.1)), {}).fit(frame, labels, groups)
    assert set(step.predict(frame)) == {"data_pipeline"}


def test_a_search_scores_answers_as_they_are_given(runs):
    """By its raw probabilities the second setting would be right about ``optimization`` alike."""
    frame, _, groups = runs
    labels = np.array(["optimization", "data_pipeline"] * 30, dtype=object)
    labels[:12] = "data_pipeline"
    settings = ((0.0, 0.5, 0.5 + 1e-9, 0.0, 0.0), (0.0, 0.4, 0.6, 0.0, 0.0))
    grid = {"classify__probabilities": settings}
    step = tuned(Answers(), grid).fit(frame, labels, groups)
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
    scores = {f"setting_{number}": accuracy for number, accuracy in enumerate(accuracies)}
    monkeypatch.setattr(
        tuned_classifier, "_accuracy", lambda pipeline, X, y: scores[pipeline["classify"].constant]
    )
    grid = {"classify__constant": tuple(scores)}
    step = tuned(AcceptsAnyConstant(), grid).fit(frame, labels, groups)
    assert step.pipeline_["classify"].constant == f"setting_{taken}"


@pytest.mark.parametrize("strategies", [("prior",), ("prior", "stratified")])
def test_scenarios_reach_the_step_that_asks_for_them(runs, strategies):
    frame, labels, groups = runs
    grid = {"classify__strategy": strategies}
    step = tuned(AsksForGroups(random_state=0), grid).fit(frame, labels, groups)
    assert step.pipeline_["classify"].groups_.tolist() == groups.tolist()


def test_inner_fits_receive_the_scenarios_of_their_own_runs(runs, monkeypatch):
    frame, labels, groups = runs
    received: list[tuple[int, int]] = []
    fit = AsksForGroups.fit

    def watched(self, X, y, groups=None):
        received.append((len(X), len(groups)))
        return fit(self, X, y, groups)

    monkeypatch.setattr(AsksForGroups, "fit", watched)
    grid = {"classify__strategy": ("prior", "stratified")}
    tuned(AsksForGroups(random_state=0), grid).fit(frame, labels, groups)
    assert received == [(30, 30)] * 4 + [(60, 60)]
