"""What holds for every method that studies compare, scikit-learn's estimator checks among it.

Those that need no data run as they are. Others fit their own matrix of numbers where methods take a
frame of named features and text: they are repeated over a frame.
"""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from failbench.base.errors import BadInputError
from failbench.base.methods import FEATURE_METHODS
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.catalogue import method_named

CLASSIFIERS = (
    "learned_rules", "logistic_regression", "decision_tree", "random_forest", "lightgbm", "ebm",
)  # fmt: skip
CHECKS = (
    "estimator_cloneable", "estimator_repr", "get_params_invariance", "set_params",
    "no_attributes_set_in_init", "do_not_raise_errors_in_init_or_set_params", "mixin_order",
    "valid_tag_types", "estimator_tags_renamed", "estimators_unfitted",
)  # fmt: skip
every_method = pytest.mark.parametrize("name", FEATURE_METHODS)


@pytest.fixture
def unfitted(context, settings_of):
    return lambda name: method_named(name).build(settings_of(name), context)


@every_method
@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_estimators_that_need_no_data(name, check, unfitted):
    getattr(estimator_checks, f"check_{check}")(name, unfitted(name))


@every_method
def test_a_fit_changes_nothing_else_and_is_the_same_again(name, unfitted, runs):
    frame, labels, groups = runs
    method, before = unfitted(name), frame.copy()
    parameters = repr(method.get_params())
    assert method.fit(frame, labels, groups=groups) is method
    expected, diagnoses = method.predict_proba(frame), method.diagnose(frame)
    assert repr(method.get_params()) == parameters
    assert frame.equals(before)
    assert list(method.classes_) == list(CATEGORIES)
    pickled = pickle.loads(pickle.dumps(method))
    assert repr(pickled.diagnose(frame)) == repr(diagnoses)
    fitted_anew = (each.fit(frame, labels, groups=groups) for each in (method, clone(method)))
    for other in (pickled, *fitted_anew):
        assert other.predict_proba(frame).tobytes() == expected.tobytes()


@every_method
def test_probabilities_answers_and_diagnoses_agree_alone_and_among_others(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    probabilities, answers = method.predict_proba(frame), method.predict(frame)
    assert probabilities.shape == (len(frame), len(CATEGORIES))
    assert probabilities.sum(axis=1) == pytest.approx(1)
    likeliest, committed = np.array(CATEGORIES)[probabilities.argmax(axis=1)], answers != ABSTAIN
    assert likeliest[committed].tolist() == answers[committed].tolist()
    diagnoses = method.diagnose(frame)
    assert [each.category for each in diagnoses] == answers.tolist()
    assert all((each.reason is not None) == (each.category == ABSTAIN) for each in diagnoses)
    assert all(0 <= each.confidence <= 1 for each in diagnoses)
    alone = np.vstack([method.predict_proba(frame.iloc[[row]]) for row in range(0, 60, 7)])
    assert alone == pytest.approx(probabilities[::7])


@every_method
def test_runs_with_nothing_but_missing_values_are_answered(name, fitted, runs):
    frame = runs[0].copy()
    frame[[column for column in frame.columns if not column.startswith("error_")]] = np.nan
    assert set(fitted(name).predict(frame)) <= {*CATEGORIES, ABSTAIN}


@pytest.mark.parametrize("name", [*CLASSIFIERS, "symptom_baseline"])
def test_classifiers_learn_what_tells_the_label_and_no_category_that_they_have_not_seen(
    name, fit, fitted, runs
):
    frame, labels, _ = runs
    assert name not in CLASSIFIERS or (fitted(name).predict(frame) == labels).mean() > 0.9
    assert set(fit(name, slice(12, None)).predict_proba(frame)[:, 0]) == {0.0}


def test_an_unknown_method_is_refused_and_the_catalogue_imports_no_library_that_fits_models():
    with pytest.raises(BadInputError, match=r"'magic' is unknown\. Choose one of simple_rules"):
        method_named("magic")
    code = (
        "import sys, failbench.methods.catalogue; "
        "assert not {'sklearn', 'lightgbm', 'interpret', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
