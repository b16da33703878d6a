"""Significance: every pair of methods compared, four pairs by name and the others by curiosity.

The tests share one null hypothesis, equal accuracy, and differ in what they take for random: the
corrected t and its Bayesian form the training set as well as the scenarios, the bootstrap and
McNemar's test the scenarios alone, the models being given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import baycomp
import polars as pl
from pydantic import Field
from statsmodels.stats.multitest import multipletests

from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.comparison import Comparison
from failbench.statistics.corrected_t import resampled_mean
from failbench.statistics.equivalence import detectable_effect, equivalence
from failbench.statistics.paired_bootstrap import Bounds, difference_bounds
from failbench.statistics.paired_scores import Pair, PairedScores, paired_scores
from failbench.statistics.textbook_tests import cohens_d, discordant, paired_t


class ComparisonSettings(BootstrapSettings):
    """How two methods are compared: level, margins and power."""

    practical_equivalence: float = Field(gt=0, lt=1)
    equivalence_margin: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)

    @property
    def alpha(self) -> float:
        """Level of every test."""
        return 1 - self.confidence

    def named(self, feature_set: str, contrasts: tuple[Pair, ...]) -> SignificanceSettings:
        """The same, of contrasts on a feature set."""
        shared = {name: getattr(self, name) for name in ComparisonSettings.model_fields}
        return SignificanceSettings(feature_set=feature_set, contrasts=contrasts, **shared)


class SignificanceSettings(ComparisonSettings):
    """Which methods are compared, and how; the section ``significance`` of params.yaml."""

    feature_set: str
    contrasts: tuple[Pair, ...] = Field(min_length=1)


def compare_all(
    predictions: pl.DataFrame, settings: SignificanceSettings
) -> tuple[Comparison, ...]:
    """Compare every pair of methods on every feature set.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one study.
    settings
        Contrasts, which are tested on ``settings.feature_set``, and margins.

    Returns
    -------
    tuple of Comparison
        By feature set; the contrasts first and in their order, then the other pairs.

    Raises
    ------
    BadInputError
        If a contrast names a method, or the settings a feature set, that was not predicted; or if
        the methods cannot be paired.
    """
    feature_sets = predictions["feature_set"].unique().sort().to_list()
    if settings.feature_set not in feature_sets:
        raise BadInputError(
            "params.yaml",
            "significance.feature_set",
            f"{settings.feature_set!r} was not predicted.",
            f"Known are {', '.join(feature_sets)}.",
        )
    return tuple(
        comparison
        for (name,), part in predictions.sort("feature_set").group_by(
            "feature_set", maintain_order=True
        )
        for comparison in _compare(part, str(name), settings)
    )


def _compare(
    predictions: pl.DataFrame, feature_set: str, settings: SignificanceSettings
) -> list[Comparison]:
    scores = paired_scores(predictions)
    pairs = _pairs(scores.methods, settings.contrasts)
    bounds = difference_bounds(
        scores, pairs, settings.resamples, settings.confidence, settings.seed
    )
    effect = detectable_effect(scores.folds.height - 1, settings.alpha, settings.power)
    comparisons = [
        _comparison(scores, pair, bound, effect, feature_set, settings)
        for pair, bound in zip(pairs, bounds, strict=True)
    ]
    if feature_set != settings.feature_set:
        return comparisons
    named = len(settings.contrasts)
    return [*_as_contrasts(comparisons[:named], settings.alpha), *comparisons[named:]]


def _pairs(methods: tuple[str, ...], contrasts: tuple[Pair, ...]) -> list[Pair]:
    """The contrasts as they are named, then every other pair once."""
    for method in (method for contrast in contrasts for method in contrast):
        if method not in methods:
            raise BadInputError(
                "params.yaml",
                "significance.contrasts",
                f"{method!r} was not predicted.",
                f"Known methods are {', '.join(methods)}.",
            )
    named = {frozenset(contrast) for contrast in contrasts}
    if len(named) < len(contrasts) or any(len(pair) < 2 for pair in named):
        raise BadInputError(
            "params.yaml",
            "significance.contrasts",
            "a pair is named twice, or a method is held against itself.",
            "Name each pair of two methods once.",
        )
    others = (pair for pair in combinations(methods, 2) if frozenset(pair) not in named)
    return [*contrasts, *others]


def _comparison(
    scores: PairedScores,
    pair: Pair,
    bounds: Bounds | None,
    effect: float,
    feature_set: str,
    settings: SignificanceSettings,
) -> Comparison:
    left, right = pair
    fold_scores = scores.fold_scores(left), scores.fold_scores(right)
    tested = resampled_mean(
        fold_scores[0] - fold_scores[1], scores.tested, scores.n - scores.tested
    )
    accuracies = scores.scenario_scores(left).mean(), scores.scenario_scores(right).mean()
    p_left, p_rope, p_right = (
        max(float(p), 0.0)  # baycomp subtracts from one, which rounding can take below zero
        for p in baycomp.two_on_single(
            *fold_scores, rope=settings.practical_equivalence, runs=scores.repeats
        )
    )
    left_only, right_only, p_mcnemar = discordant(scores.first, pair)
    legacy_t, legacy_p = paired_t(scores.first_repeat(left), scores.first_repeat(right))
    equal = equivalence(tested, settings.equivalence_margin, settings.alpha)
    low, high = bounds or (None, None)
    return Comparison(
        feature_set=feature_set,
        left=left,
        right=right,
        family="exploratory",
        n=scores.n,
        folds=scores.folds.height,
        accuracy_left=float(accuracies[0]),
        accuracy_right=float(accuracies[1]),
        difference=float(accuracies[0] - accuracies[1]),
        ci_low=low,
        ci_high=high,
        t=tested.statistic,
        df=tested.df,
        p=tested.p_value,
        p_left=p_left,
        p_rope=p_rope,
        p_right=p_right,
        left_only=left_only,
        right_only=right_only,
        p_mcnemar=p_mcnemar,
        legacy_t=legacy_t,
        legacy_p=legacy_p,
        cohens_d=cohens_d(scores.scenario_scores(left) - scores.scenario_scores(right)),
        p_equivalence=equal.p,
        equivalent=equal.shown,
        smallest_margin=equal.smallest_margin,
        detectable_difference=effect * tested.standard_error if tested.standard_error else None,
    )


def _as_contrasts(comparisons: Sequence[Comparison], alpha: float) -> list[Comparison]:
    """Comparisons with p values adjusted by Holm's method (1979) over all of them."""
    adjusted = multipletests(
        [comparison.p for comparison in comparisons], alpha=alpha, method="holm"
    )[1]
    return [
        comparison.model_copy(update={"family": "contrast", "p_holm": float(p)})
        for comparison, p in zip(comparisons, adjusted, strict=True)
    ]
