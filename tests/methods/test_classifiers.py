from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold

from failbench.base.params import read_section
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.catalogue import method_named
from failbench.methods.tuned_classifier import imputed


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
