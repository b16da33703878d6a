"""A small study of importance: a small forest, a small boosting machine, few replacements."""

from __future__ import annotations

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import RandomForestSettings
from failbench.studies.importance.measure import ImportanceSettings

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
