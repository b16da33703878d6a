from typing import Any

import numpy as np
from scipy import stats

from failbench.base import method_settings as methods
from failbench.base.slices import AcrossArchitectures, ReferenceStudy
from failbench.statistics.bootstrap import BATCH, BootstrapSettings
from failbench.statistics.intervals import IntervalSettings, ScenarioIntervalSettings

DRAWS: dict[str, Any] = {"resamples": 1000, "confidence": 0.95, "seed": 0}
WILSON: dict[str, Any] = {"wilson_from": 0.9, "wilson_below": 0}
TESTS: dict[str, Any] = {"practical_equivalence": 0.05, "equivalence_margin": 0.1, "power": 0.8}

BOOTSTRAP = BootstrapSettings(**DRAWS)
INTERVALS = ScenarioIntervalSettings(**DRAWS, **WILSON)
INTERVALS_OF_FEW = ScenarioIntervalSettings(**DRAWS, **WILSON | {"wilson_below": 10})
METHOD_INTERVALS = IntervalSettings(**DRAWS, **WILSON, calibration_bins=10, floor_draws=1000)

SIMPLE_RULES = methods.SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
IMPROVED_RULES = methods.ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
FOREST = methods.RandomForestSettings(
    trees=5, inner_folds=2, max_features=("sqrt", 0.5), min_samples_leaf=(1,)
)
EBM = methods.EbmSettings(
    inner_folds=2, learning_rate=(0.08,), interactions=0, outer_bags=2, smoothing_rounds=75,
    max_rounds=40, min_samples_leaf=2, max_bins=16, early_stopping_rounds=10,
)  # fmt: skip
REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
)
ACROSS = AcrossArchitectures(
    optimizer="adamw", scale="small", known_seed=0, monitored_seeds=(0, 1), repeats=1,
    feature_sets=("19",), seed=3,
)  # fmt: skip


def scipy_bootstrap(samples, statistic, settings=BOOTSTRAP, method="BCa"):
    """SciPy's bootstrap, which draws what ours draws; vectorised if the statistic has an axis."""
    rng = np.random.default_rng(settings.seed)
    drawn = {"n_resamples": settings.resamples, "batch": BATCH, "rng": rng}
    return stats.bootstrap(samples, statistic, method=method, **drawn)
