"""A small ablation: few subsets, a small forest, and the accuracy of a subset."""

from __future__ import annotations

import polars as pl

from failbench.methods.classifiers import RandomForestSettings
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.studies.ablation.results import AblationSettings

RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
FOREST = RandomForestSettings(
    trees=5, inner_folds=2, max_features=("sqrt", 0.5), min_samples_leaf=(1,)
)
VALUES: dict[str, object] = {
    "repeats": 1,
    "kept": (
        ("memory",),
        ("perplexity",),
        ("memory", "perplexity"),
        ("training_dynamics",),
        ("error_text",),
    ),
    "superadditive": ("memory", "perplexity"),
    "resamples": 1000,
    "confidence": 0.95,
    "wilson_from": 0.9,
    "wilson_below": 10,
    "practical_equivalence": 0.05,
    "equivalence_margin": 0.1,
    "power": 0.8,
    "seed": 0,
}
SETTINGS = AblationSettings.model_validate(VALUES)


def accuracy(predictions: pl.DataFrame, method: str, subset: str, feature_set: str = "19") -> float:
    rows = predictions.filter(
        pl.col("method") == method,
        pl.col("subset") == subset,
        pl.col("feature_set") == feature_set,
    )
    return float((rows["prediction"] == rows["category"]).to_numpy().mean())
