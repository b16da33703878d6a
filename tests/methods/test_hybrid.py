"""Who answers in a hybrid, at the exact thresholds, and how often simulated humans are right."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.base import BaseEstimator

from failbench.base.errors import BadInputError
from failbench.base.method_settings import HybridSettings, SimulatedHumanSettings, SkillLevel
from failbench.base.methods import ENTRIES, FEATURE_METHODS
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.catalogue import method_named
from failbench.methods.hybrid import Hybrid, HybridTwoWay
from failbench.methods.simulated_human import SimulatedHuman

ABOVE, BELOW = np.nextafter(0.85, 1), np.nextafter(0.60, 0)
OF_RULES = (Evidence("oov_rate", 0.3, "above", 0.1),)
OF_FOREST = (Evidence("max_loss", 2.0, "above", 1.0),)


class Says(BaseEstimator):
    def __init__(self, category, conditions=None):
        self.category = category
        self.conditions = conditions

    def fit(self, X, y, groups=None):
        self.fitted_to_ = (list(X.index), list(y), list(groups))
        return self

    def diagnose(self, X):
        evidence = OF_FOREST if self.conditions else ()
        return (Diagnosis(self.category, 0.7, evidence, self.conditions),) * len(X)

    def predict_proba(self, X):
        return np.tile([float(category == self.category) for category in CATEGORIES], (len(X), 1))


class Rules(Says):
    """Answers with the confidence in column ``c`` and abstains for the reason in ``why``."""

    reasons: ClassVar = {"conflict", "missing", "low_confidence"}

    def diagnose(self, X):
        return tuple(
            Diagnosis(ABSTAIN, c, OF_RULES, 4, why)
            if why in self.reasons
            else Diagnosis(self.category, c, OF_RULES, 4, None)
            for c, why in zip(X["c"], X["why"], strict=True)
        )


def fitted(method, *cases):
    """The method fitted to runs of which rules say a confidence and a reason, and these runs."""
    names = [f"run_{number}" for number in range(len(cases))]
    X = pd.DataFrame(cases, columns=["c", "why"], index=pd.Index(names, name="run_id"))
    groups = np.array([f"s_{number}" for number in range(len(X))], dtype=object)
    return method.fit(X, np.array(["unknown"] * len(X), dtype=object), groups=groups), X


def three_way():
    return Hybrid(Rules("optimization"), Says("data_pipeline", 300), Says("unknown"))


def routes(method, *cases):
    method, X = fitted(method, *cases)
    return [each.route for each in method.diagnose(X)]


def test_the_three_way_hybrid_routes_by_confidence_and_reason():
    cases = {
        (1.0, ""): "rules", (ABOVE, ""): "rules", (0.85, ""): "classifier",
        (0.60, ""): "classifier", (BELOW, ""): "human", (0.0, ""): "human",
        (BELOW, "low_confidence"): "human", (0.70, "low_confidence"): "classifier",
        (1.0, "low_confidence"): "classifier", (1.0, "conflict"): "human",
        (0.70, "conflict"): "human", (1.0, "missing"): "human",
    }  # fmt: skip
    assert routes(three_way(), *cases) == [*cases.values()]


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_the_two_way_hybrid_hands_on_what_rules_abstain_from(confidence):
    method = HybridTwoWay(Rules("optimization"), Says("data_pipeline"))
    cases = [(confidence, why) for why in ("", "low_confidence", "conflict", "missing")]
    assert routes(method, *cases) == ["rules"] + ["classifier"] * 3


def test_the_member_that_answers_gives_category_confidence_evidence_and_conditions():
    method, X = fitted(three_way(), (0.2, ""), (0.9, ""), (0.7, ""), (0.9, "conflict"))
    human = Diagnosis("unknown", 0.7, (), None, None, "human")
    assert method.diagnose(X) == (
        human,
        Diagnosis("optimization", 0.9, OF_RULES, 4, None, "rules"),
        Diagnosis("data_pipeline", 0.7, OF_FOREST, 300, None, "classifier"),
        human,
    )
    named = np.array(CATEGORIES)[method.predict_proba(X).argmax(axis=1)]
    assert named.tolist() == method.predict(X).tolist()


def test_only_the_simulated_human_in_a_hybrid_holds_the_answers(context, settings_of):
    method = method_named("hybrid").build(settings_of("hybrid"), context)
    assert method.human.true_categories == context.true_categories
    for part in (method.rules, method.classifier):
        parameters = part.get_params(deep=True)
        assert not any(value is context.true_categories for value in parameters.values())
        assert "true_categories" not in parameters


def test_thresholds_out_of_order_and_a_run_without_an_answer_are_refused():
    with pytest.raises(ValidationError, match="classifier_from must not be above rules_from"):
        HybridSettings(rules_from=0.5, classifier_from=0.6)
    settings = SimulatedHumanSettings(levels={"expert": SkillLevel(share=1, accuracy=0.9)})
    human = SimulatedHuman({}, settings.levels, seed=0).fit(pd.DataFrame(), np.array([]))
    unknown = pd.DataFrame(index=pd.Index(["run_x"], name="run_id"))
    with pytest.raises(BadInputError, match="run_x: is not in the answer key"):
        human.predict(unknown)

    # and only methods with a simulated human receive the answers
    simulations = [name for name in FEATURE_METHODS if method_named(name).simulation]
    assert simulations == ["simulated_human", "hybrid"]
    assert simulations == [name for name in FEATURE_METHODS if ENTRIES[name].reads_true_category]
