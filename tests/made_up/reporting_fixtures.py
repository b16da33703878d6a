import copy

import pytest
import yaml

from failbench.base.records import kept_by_hand
from failbench.study.paper_numbers import Reported


@pytest.fixture(scope="session")
def raw_reported(repository):
    return yaml.safe_load((repository / "data/reported/paper.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def reported(raw_reported) -> Reported:
    """The numbers of the paper as a stage reads them."""
    return kept_by_hand(Reported, raw_reported, "data/reported/paper.yaml")


def estimate(value, spread):
    return {"value": value, "ci_low": value - spread, "ci_high": value + spread, "n": 76}


USUAL = {
    "abstention_rate": (0.25, 0.05), "accuracy_when_committed": (0.7, 0.1), "macro_f1": (0.3, 0.1),
    "balanced_accuracy": (0.4, 0.1), "brier": (0.61234, 0.1), "log_loss": (1.2, 0.1),
    "calibration_error": (0.15, 0.05), "calibration_floor": (0.09, 0.03),
}  # fmt: skip


def metrics(accuracy, conditions=None):
    """Metrics of a method; one that gives no conditions has no such metric."""
    values = {"accuracy": (accuracy, 0.1)} | USUAL
    if conditions is not None:
        values["conditions_to_read"] = (conditions, conditions / 10)
    return {name: estimate(*each) for name, each in values.items()}


@pytest.fixture(scope="session")
def made_up_metrics():
    """Twelve methods, crowded as accuracies over 76 scenarios are; a person gives no conditions."""
    accuracies = {
        "simple_rules": (0.592, 22.4), "improved_rules": (0.51, 5.8), "learned_rules": (0.47, 4.1),
        "logistic_regression": (0.575, 7.2), "decision_tree": (0.466, 3.9),
        "random_forest": (0.56, 612.0), "lightgbm": (0.57, 540.0), "ebm": (0.566, 8.3),
        "simulated_human": (0.70, None), "hybrid": (0.62, 240.0), "hybrid_two_way": (0.60, 210.0),
        "symptom_baseline": (0.266, 380.0),
    }  # fmt: skip
    return {
        "19": {method: metrics(*numbers) for method, numbers in accuracies.items()},
        "19+keywords": {
            method: metrics(accuracy + 0.1, conditions)
            for method, (accuracy, conditions) in accuracies.items()
        },
    }


@pytest.fixture
def measured(made_up_metrics):
    """The same, for a test to change."""
    return copy.deepcopy(made_up_metrics)
