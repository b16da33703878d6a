import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from failbench.base.method_settings import LearnedRulesSettings
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.learned_rules import learned_rules, rule_list, top_signals

SETTINGS = {"max_depth": 5, "inner_folds": 2, "max_leaf_nodes": [25], "min_samples_leaf": [1]}


def fitted(frame, labels, **changes):
    settings = LearnedRulesSettings.model_validate(SETTINGS | changes)
    return learned_rules(settings, tuple(frame.columns), seed=0).fit(frame, labels)


def noise(seed, n_runs=150):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_runs, 6)), columns=list("abcdef"))
    frame[rng.random(frame.shape) < 0.1] = np.nan
    return frame, rng.choice(np.array(CATEGORIES, dtype=object), n_runs)


@pytest.fixture
def steps():
    """Memory parts two categories from the rest, and the gradient norm parts three of these."""
    runs = [20, 10, 10, 20]
    gradient, memory = (np.repeat(each, runs) for each in ([0.0, 1, 2, 0], [0.0, 0, 0, 1]))
    names = ["optimization", "data_pipeline", "model_software", "memory_hardware"]
    frame = pd.DataFrame({"memory": memory, "gradient": gradient, "nothing": 0.0})
    return frame, np.repeat(np.array(names, dtype=object), runs)


@pytest.mark.parametrize("seed", range(4))
def test_the_list_reproduces_every_prediction_in_at_most_25_rules(seed):
    frame, labels = noise(seed)
    method = fitted(frame, labels, max_depth=12)  # so that the number of rules is what limits
    rules = rule_list(method)
    assert len(rules) == 25
    fresh = noise(seed + 100)[0]
    for runs in (frame, fresh):
        matrix = runs.fillna(frame.median())
        holds = np.ones((len(rules), len(matrix)), dtype=bool)
        for position, rule in enumerate(rules):
            for name, side, edge in rule.tests:
                above = (matrix[name] > edge).to_numpy()
                holds[position] &= above if side == "above" else ~above
        assert set(holds.sum(axis=0)) == {1}
        answers = [rules[position].category for position in holds.argmax(axis=0)]
        assert answers == method.predict(runs).tolist()


def test_a_diagnosis_rests_on_the_tests_of_its_rule_and_the_root_is_the_top_signal(steps):
    frame, labels = steps
    method = fitted(frame, labels)
    assert top_signals(method) == ("memory", "gradient")
    diagnosis = method.diagnose(frame.iloc[[20]])[0]
    assert (diagnosis.category, diagnosis.conditions) == ("data_pipeline", 3)
    tests = [
        (each.signal, each.relation, each.threshold, each.value) for each in diagnosis.evidence
    ]
    assert tests == [
        ("memory", "below", 0.5, 0.0),
        ("gradient", "above", 0.5, 1.0),
        ("gradient", "below", 1.5, 1.0),
    ]


@pytest.mark.parametrize("leaves", [1, 26])
def test_more_than_25_rules_and_fewer_than_two_are_refused(leaves):
    with pytest.raises(ValidationError, match="max_leaf_nodes"):
        LearnedRulesSettings.model_validate(SETTINGS | {"max_leaf_nodes": [leaves]})
