"""What holds for every method that studies compare."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.base.methods import CATALOGUE, ENTRIES, FEATURE_METHODS
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.catalogue import method_named

CLASSIFIERS = (
    "learned_rules",
    "logistic_regression",
    "decision_tree",
    "random_forest",
    "lightgbm",
    "ebm",
)
every_method = pytest.mark.parametrize("name", FEATURE_METHODS)


@every_method
def test_probabilities_are_in_the_order_of_categories_and_sum_to_one(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    probabilities = method.predict_proba(frame)
    assert probabilities.shape == (len(frame), len(CATEGORIES))
    assert probabilities.sum(axis=1) == pytest.approx(1)
    answers, likeliest = method.predict(frame), np.array(CATEGORIES)[probabilities.argmax(axis=1)]
    committed = answers != ABSTAIN
    assert likeliest[committed].tolist() == answers[committed].tolist()


@every_method
def test_diagnoses_name_what_is_predicted_and_why_it_is_not(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    diagnoses = method.diagnose(frame)
    assert [diagnosis.category for diagnosis in diagnoses] == method.predict(frame).tolist()
    assert all(
        (diagnosis.reason is not None) == (diagnosis.category == ABSTAIN) for diagnosis in diagnoses
    )
    assert all(0 <= diagnosis.confidence <= 1 for diagnosis in diagnoses)


@every_method
def test_runs_with_nothing_but_missing_values_are_answered(name, fitted, runs):
    frame = runs[0].copy()
    features = [column for column in frame.columns if not column.startswith("error_")]
    frame[features] = np.nan
    assert set(fitted(name).predict(frame)) <= {*CATEGORIES, ABSTAIN}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_learn_a_feature_that_tells_the_label(name, fitted, runs):
    frame, labels, _ = runs
    assert (fitted(name).predict(frame) == labels).mean() > 0.9


@pytest.mark.parametrize("name", [*CLASSIFIERS, "symptom_baseline"])
def test_a_category_that_was_not_trained_on_has_probability_zero(name, fit, runs):
    method = fit(name, slice(12, None))
    assert set(method.predict_proba(runs[0])[:, 0]) == {0.0}


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(BadInputError, match=r"'magic' is unknown\. Choose one of simple_rules"):
        method_named("magic")


def test_every_entry_that_names_a_module_is_declared_there():
    for entry in CATALOGUE:
        if entry.module is not None:
            assert entry.name in import_module(f"failbench.methods.{entry.module}").DECLARATIONS


def test_no_two_methods_have_one_name_or_one_label():
    assert len(ENTRIES) == len({entry.label for entry in CATALOGUE}) == len(CATALOGUE)


def test_importing_the_catalogue_imports_no_library_that_fits_models():
    code = (
        "import sys, failbench.methods.catalogue; "
        "print(*{'sklearn', 'lightgbm', 'interpret', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
