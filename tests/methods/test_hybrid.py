"""Who answers in a hybrid, at the exact thresholds, and whose answer it then is."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.base import BaseEstimator

from failbench.base.method_settings import HybridSettings
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.catalogue import method_named
from failbench.methods.hybrid import Hybrid, HybridTwoWay

ABOVE = np.nextafter(0.85, 1)
BELOW = np.nextafter(0.60, 0)


class Says(BaseEstimator):
    """Answers every run with one category, and keeps what it was fitted to and asked for."""

    def __init__(self, category, conditions=None):
        self.category = category
        self.conditions = conditions

    def fit(self, X, y, groups=None):
        self.fitted_to_ = (list(X.index), list(y), list(groups))
        return self

    def diagnose(self, X):
        self.asked_ = list(X.index)
        evidence = (Evidence("max_loss", 2.0, "above", 1.0),) if self.conditions else ()
        one = Diagnosis(self.category, 0.7, evidence, self.conditions)
        return (one,) * len(X)

    def predict_proba(self, X):
        row = [float(category == self.category) for category in CATEGORIES]
        return np.tile(row, (len(X), 1))


class Rules(Says):
    """Answers with the confidence in column ``c`` and abstains for the reason in ``why``."""

    reasons: ClassVar = {"conflict", "missing", "low_confidence"}

    def diagnose(self, X):
        return tuple(
            Diagnosis(
                ABSTAIN if why in self.reasons else self.category,
                c,
                (Evidence("oov_rate", 0.3, "above", 0.1),),
                4,
                why if why in self.reasons else None,
            )
            for c, why in zip(X["c"], X["why"], strict=True)
        )


def asked(*cases: tuple[float, str]) -> pd.DataFrame:
    index = pd.Index([f"run_{number}" for number in range(len(cases))], name="run_id")
    return pd.DataFrame(cases, columns=["c", "why"], index=index)


def fitted(method, X):
    groups = np.array([f"s_{number}" for number in range(len(X))], dtype=object)
    return method.fit(X, np.array(["unknown"] * len(X), dtype=object), groups=groups)


def three_way() -> Hybrid:
    return Hybrid(Rules("optimization"), Says("data_pipeline", 300), Says("unknown"))


@pytest.mark.parametrize(
    ("confidence", "why", "route"),
    [
        (1.0, "", "rules"),
        (ABOVE, "", "rules"),
        (0.85, "", "classifier"),
        (0.60, "", "classifier"),
        (BELOW, "", "human"),
        (0.0, "", "human"),
        (BELOW, "low_confidence", "human"),
        (0.70, "low_confidence", "classifier"),
        (1.0, "low_confidence", "classifier"),
        (1.0, "conflict", "human"),
        (0.70, "conflict", "human"),
        (1.0, "missing", "human"),
    ],
)
def test_the_three_way_hybrid_routes_by_confidence_and_reason(confidence, why, route):
    X = asked((confidence, why))
    assert fitted(three_way(), X).diagnose(X)[0].route == route


@pytest.mark.parametrize(
    ("why", "route"),
    [
        ("", "rules"),
        ("low_confidence", "classifier"),
        ("conflict", "classifier"),
        ("missing", "classifier"),
    ],
)
@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_the_two_way_hybrid_hands_on_what_rules_abstain_from(confidence, why, route):
    X = asked((confidence, why))
    method = fitted(HybridTwoWay(Rules("optimization"), Says("data_pipeline")), X)
    assert method.diagnose(X)[0].route == route


def test_the_member_that_answers_gives_category_confidence_evidence_and_conditions():
    X = asked((0.2, ""), (0.9, ""), (0.7, ""), (0.9, "conflict"))
    method = fitted(three_way(), X)
    rules_evidence = (Evidence("oov_rate", 0.3, "above", 0.1),)
    forest_evidence = (Evidence("max_loss", 2.0, "above", 1.0),)
    assert method.diagnose(X) == (
        Diagnosis("unknown", 0.7, (), None, None, "human"),
        Diagnosis("optimization", 0.9, rules_evidence, 4, None, "rules"),
        Diagnosis("data_pipeline", 0.7, forest_evidence, 300, None, "classifier"),
        Diagnosis("unknown", 0.7, (), None, None, "human"),
    )
    named = np.array(CATEGORIES)[method.predict_proba(X).argmax(axis=1)]
    assert named.tolist() == method.predict(X).tolist()


def test_every_member_learns_from_all_training_runs_and_the_given_ones_stay_unfitted():
    X = asked((0.9, ""), (0.9, ""))
    method = fitted(three_way(), X)
    learned = (["run_0", "run_1"], ["unknown", "unknown"], ["s_0", "s_1"])
    members = [method.rules_, *method.members_.values()]
    assert [member.fitted_to_ for member in members] == [learned] * 3
    assert not hasattr(method.rules, "fitted_to_")
    assert not hasattr(method.classifier, "fitted_to_")


def test_thresholds_must_be_in_order():
    with pytest.raises(ValidationError, match="classifier_from must not be above rules_from"):
        HybridSettings(rules_from=0.5, classifier_from=0.6)


def test_only_the_simulated_human_in_a_hybrid_holds_the_answers(context, settings_of):
    method = method_named("hybrid").build(settings_of("hybrid"), context)
    assert method.human.true_categories == context.true_categories
    for part in (method.rules, method.classifier):
        values = [*part.get_params(deep=True).values()]
        assert not any(value is context.true_categories for value in values)
        assert "true_categories" not in part.get_params(deep=True)


@pytest.mark.parametrize("name", ["hybrid", "hybrid_two_way"])
def test_a_hybrid_answers_as_the_method_that_it_names_does(name, context, settings_of, runs):
    """Seeds are shared, so that a hybrid hands on to the very forest of the study."""
    frame, labels, groups = runs
    frame = frame.assign(error_message="", error_type="")
    frame.loc[frame.index[:20], "error_type"] = "torch.OutOfMemoryError"
    method = method_named(name).build(settings_of(name), context).fit(frame, labels, groups)
    alone = {
        route: method_named(member)
        .build(settings_of(member), context)
        .fit(frame, labels, groups)
        .diagnose(frame)
        for route, member in (
            ("rules", "improved_rules"),
            ("classifier", "random_forest"),
            ("human", "simulated_human"),
        )
    }
    actual = method.diagnose(frame)
    assert len({item.route for item in actual}) > 1
    for position, item in enumerate(actual):
        expected = alone[item.route][position]
        assert (item.category, item.confidence) == (expected.category, expected.confidence)
