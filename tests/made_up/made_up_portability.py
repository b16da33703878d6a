"""Made-up portability: a small section of params.yaml, and runs of two optimizers."""

from __future__ import annotations

from failbench.studies.portability.settings import PortabilitySettings
from failbench.telemetry import Telemetry
from made_up_telemetry import made_up_telemetry, together

CONTRASTS = [["fixed", "home"], ["adaptive", "home"]]


def portability_settings(**changed: object) -> PortabilitySettings:
    """A small study of two optimizers; whatever a test is about it names."""
    values: dict[str, object] = {
        "home": {"architecture": "transformer", "optimizer": "adamw", "scale": "small"},
        "away": {"architecture": "transformer", "optimizer": "sgd", "scale": "small"},
        "own_history_steps": 6,
        "repeats": 1,
        "contrasts": CONTRASTS,
        "seed": 0,
        "logistic_regression": {"inner_folds": 2, "inverse_penalty": [1], "max_iterations": 99},
        "random_forest": {
            "trees": 2,
            "inner_folds": 2,
            "max_features": ["sqrt"],
            "min_samples_leaf": [1],
        },
    }
    return PortabilitySettings.model_validate(values | changed)


def two_optimizers() -> Telemetry:
    """Two seeds at home and one away, where gradient norms are nine times as large."""
    return together(made_up_telemetry("adamw", seeds=2), made_up_telemetry("sgd", scale=9.0))
