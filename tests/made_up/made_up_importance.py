"""A small study of importance: a small forest, a small boosting machine, few replacements."""

from __future__ import annotations

import polars as pl

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import RandomForestSettings
from failbench.studies.importance.results import ImportanceSettings

FOREST = RandomForestSettings(trees=15, inner_folds=2, max_features=(0.5,), min_samples_leaf=(1,))
EBM = EbmSettings(
    inner_folds=2,
    learning_rate=(0.08,),
    interactions=0,
    outer_bags=2,
    max_rounds=40,
    min_samples_leaf=2,
    max_bins=16,
    early_stopping_rounds=10,
)
VALUES: dict[str, object] = {
    "repeats": 1,
    "replacements": 5,
    "source": "training_fold",
    "shapes": 2,
    "resamples": 1000,
    "confidence": 0.95,
    "seed": 0,
}
SETTINGS = ImportanceSettings.model_validate(VALUES)


def ablation_predictions() -> pl.DataFrame:
    """A forest that is right on three of four scenarios, and on two without the error text."""
    right = {"all": (1, 1, 1, 0), "without_error_text": (1, 1, 0, 0), "memory": (0, 0, 0, 0)}
    return pl.DataFrame(
        [
            {
                "feature_set": "19+keywords",
                "subset": subset,
                "repeat": repeat,
                "scenario": f"scenario_{number}",
                "category": "optimization",
                "prediction": "optimization" if is_right else "unknown",
            }
            for subset, scenarios in right.items()
            for repeat in (0, 1)
            for number, is_right in enumerate(scenarios)
        ]
    )
