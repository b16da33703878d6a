"""How settings are chosen, and what reaches the steps of the pipeline."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.tuned_classifier import TunedClassifier, imputed
from failbench.verdicts import Evidence

SEEN = Evidence("max_loss", 1.0, "above", 0.5)


class AsksForGroups(DummyClassifier):
    """Keeps the groups that its fit received; a dummy otherwise."""

    __metadata_request__fit: ClassVar = {"groups": True}

    def fit(self, X, y, groups=None):
        self.groups_ = groups
        self.rows_ = len(X)
        return super().fit(X, y)


def explained(pipeline, X, answers):
    return [((SEEN,), len(answer)) for answer in answers]


def tuned(classifier, grid, explain=None) -> TunedClassifier:
    steps = [("impute", imputed(FEATURE_SETS["19"])), ("classify", classifier)]
    return TunedClassifier(Pipeline(steps), grid, inner_folds=2, seed=0, explain=explain)


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


def test_diagnoses_carry_the_evidence_and_the_number_of_conditions(runs):
    frame, labels, groups = runs
    method = tuned(DummyClassifier(), {}, explained).fit(frame, labels, groups)
    for diagnosis in method.diagnose(frame):
        assert diagnosis.evidence == (SEEN,)
        assert diagnosis.conditions == len(diagnosis.category)


def test_without_an_explanation_there_is_nothing_to_read(runs):
    frame, labels, groups = runs
    diagnosis = tuned(DummyClassifier(), {}).fit(frame, labels, groups).diagnose(frame)[0]
    assert diagnosis.evidence == ()
    assert diagnosis.conditions is None


def test_an_explanation_survives_cloning_and_pickling(runs):
    frame, labels, groups = runs
    method = clone(tuned(DummyClassifier(), {}, explained)).fit(frame, labels, groups)
    copied = pickle.loads(pickle.dumps(method))
    assert copied.diagnose(frame) == method.diagnose(frame)
    assert np.array_equal(copied.predict(frame), method.predict(frame))
