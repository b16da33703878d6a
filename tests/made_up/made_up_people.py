"""A made-up human baseline: measured difficulty, a hybrid that hands over, and settings."""

from __future__ import annotations

import polars as pl

from failbench.methods.simulated_human import SkillLevel
from failbench.studies.human_baseline.results import HumanBaseline, human_baseline
from failbench.studies.human_baseline.settings import HumanBaselineSettings
from failbench.vocabulary import CATEGORIES

LEVELS = {
    "novice": SkillLevel(share=0.3, accuracy=0.5),
    "intermediate": SkillLevel(share=0.5, accuracy=0.75),
    "expert": SkillLevel(share=0.2, accuracy=0.9),
}
SETTINGS = HumanBaselineSettings(
    feature_set="19",
    studies=500,
    couplings=(0.0, 1.0),
    folds=5,
    panel=3,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)
REPORTED = 0.72
EASES = (0.0, 0.2, 0.5, 0.6, 0.8, 1.0)


def measured_scenarios() -> pl.DataFrame:
    """Six scenarios per category."""
    return pl.DataFrame(
        [
            {
                "category": category,
                "scenario": f"{category}_{number}",
                "measured": "hard" if ease < 0.4 else "easy" if ease > 0.7 else "medium",
                "ease": ease,
            }
            for category in CATEGORIES
            for number, ease in enumerate(EASES)
        ]
    )


def measured_shares() -> pl.DataFrame:
    """Their shares of right answers, by one method in two architectures."""
    views = pl.DataFrame(
        {"view": ["method", "architecture", "architecture"], "name": ["ebm", "lstm", "gru"]}
    )
    return measured_scenarios().select("scenario", "category", "ease").join(views, how="cross")


def hybrid_predictions() -> pl.DataFrame:
    """The hybrid hands over the two hardest of each category, the second in half of the repeats."""
    points = measured_scenarios().select("category", "scenario", "ease")
    repeats = pl.DataFrame({"repeat": [0, 1], "feature_set": ["19", "19"]})
    human = (pl.col("ease") == 0) | ((pl.col("ease") == 0.2) & (pl.col("repeat") == 0))
    return points.join(repeats, how="cross").with_columns(
        route=pl.when(human).then(pl.lit("human")).otherwise(pl.lit("rules")),
        prediction="category",
    )


def made_up_baseline() -> HumanBaseline:
    """The simulation of these."""
    return human_baseline(
        LEVELS, measured_scenarios(), measured_shares(), hybrid_predictions(), SETTINGS, REPORTED
    )
