"""scikit-learn's estimator checks, for every method that studies compare.

``check_estimator`` as a whole does not apply: nearly all of its checks fit their own matrix of
numbers, and methods take a frame of named features and error text. The checks that need no data run
as they are. Those that matter here and do fit are repeated over a frame, under their names: pickle,
fit_idempotent, fit_returns_self, dict_unchanged, overwrite_params, methods_subset_invariance,
classifiers_classes. Left out are:

* ``n_features_in``, ``dataframe_column_names_consistency``, ``fit2d_1feature``, ``fit1d``, sparse,
  complex, list and array-API input: columns are chosen by name, and further ones are ignored;
* ``estimators_nan_inf``: a missing feature is ordinary input, which each method says how it treats;
* ``parameters_default_constructible``: a method is built from its settings, a band and features;
* ``classifiers_train``, ``classifiers_one_label``, multi-label and multi-output: labels are always
  the five categories, and a method may abstain;
* sample weights and transformers: there are none.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from failbench.base.methods import FEATURE_METHODS
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.catalogue import method_named

every_method = pytest.mark.parametrize("name", FEATURE_METHODS)


@pytest.fixture
def unfitted(context, settings_of):
    def build(name: str):
        return method_named(name).build(settings_of(name), context)

    return build


@every_method
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_mixin_order,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_estimators_unfitted,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_that_need_no_data(name, check, unfitted):
    check(name, unfitted(name))


@every_method
def test_fitting_returns_the_method_and_leaves_parameters_and_runs_as_they_are(
    name, unfitted, runs
):
    frame, labels, groups = runs
    method = unfitted(name)
    parameters, before = repr(method.get_params()), frame.copy()
    assert method.fit(frame, labels, groups=groups) is method
    method.diagnose(frame)
    assert repr(method.get_params()) == parameters
    assert frame.equals(before)
    assert list(method.classes_) == list(CATEGORIES)


@every_method
def test_a_pickled_or_refitted_method_answers_alike(name, unfitted, runs):
    frame, labels, groups = runs
    method = unfitted(name).fit(frame, labels, groups=groups)
    expected = method.predict_proba(frame)
    diagnoses = method.diagnose(frame)
    pickled = pickle.loads(pickle.dumps(method))
    assert pickled.predict_proba(frame).tobytes() == expected.tobytes()
    assert repr(pickled.diagnose(frame)) == repr(diagnoses)
    refitted = method.fit(frame, labels, groups=groups)
    assert refitted.predict_proba(frame).tobytes() == expected.tobytes()
    cloned = clone(method).fit(frame, labels, groups=groups)
    assert cloned.predict_proba(frame).tobytes() == expected.tobytes()


@every_method
def test_a_run_is_answered_alike_alone_and_among_others(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    alone = np.vstack([method.predict_proba(frame.iloc[[row]]) for row in range(0, 60, 7)])
    assert alone == pytest.approx(method.predict_proba(frame)[::7])
