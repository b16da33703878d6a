"""Significance: contrasts of methods, which are named beforehand, under every test."""

# All tests suppose equal accuracy; the corrected t and its Bayesian form take the training set for
# random as well as the scenarios, the bootstrap and McNemar's test the scenarios alone.

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import baycomp
import polars as pl
from pydantic import Field
from statsmodels.stats.multitest import multipletests

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.paired_tests import (
    cohens_d,
    detectable_effect,
    discordant,
    equivalence,
    paired_t,
    resampled_mean,
)
from failbench.statistics.pairs import Pair, PairedScores, difference_bounds, paired_scores


class Difference(Record):
    """Accuracies over ``n`` scenarios, ``left`` less ``right``; no bounds if resamples agree."""

    feature_set: str
    left: str
    right: str
    n: int
    folds: int
    accuracy_left: float
    accuracy_right: float
    difference: float
    ci_low: float | None
    ci_high: float | None


class Comparison(Difference):
    """A difference, and every test of it."""

    family: Literal["contrast"] = "contrast"  # named beforehand, so that p is adjusted
    t: float
    df: int
    p: float  # corrected resampled t test of the fold differences
    p_holm: float | None = None  # by Holm's method (1979) over the contrasts
    p_left: float
    p_rope: float
    p_right: float  # posterior probabilities of left, of practical equivalence, and of right
    left_only: int
    right_only: int
    p_mcnemar: float  # exact, of scenarios that only one has right in the first repeat
    legacy_t: float
    legacy_p: float  # the paper's paired t over folds of one repeat, which share runs
    cohens_d: float  # mean over standard deviation of the differences of scenarios
    p_equivalence: float
    equivalent: bool
    smallest_margin: float  # of two one-sided tests with the corrected variance
    detectable_difference: float | None  # before adjustment; None where folds agree

    @property
    def untested(self) -> Difference:
        """The difference alone: an in-sample one has no p value."""
        return Difference(**self.model_dump(include=set(Difference.model_fields)))


def comparisons_table(comparisons: Sequence[Difference]) -> pl.DataFrame:
    """One row per comparison, one column per attribute; null what an untested one has not."""
    return pl.DataFrame(
        [comparison.model_dump() for comparison in comparisons], infer_schema_length=None
    )


def difference_metrics(differences: Iterable[Difference]) -> dict[str, object]:
    """Differences in nested scalars, with what was tested and is finite."""
    return {f"{each.left}_less_{each.right}": _leaves(each) for each in differences}


def _leaves(difference: Difference) -> dict[str, dict[str, float]]:
    known = difference.model_dump()
    nested = {
        name: {leaf: known.get(column) for leaf, column in columns.items()}
        for name, columns in LEAVES.items()
    }
    finite = {
        name: {key: x for key, x in leaves.items() if x is not None and math.isfinite(x)}
        for name, leaves in nested.items()
    }
    return {name: leaves for name, leaves in finite.items() if leaves}


LEAVES: Final[Mapping[str, Mapping[str, str]]] = {
    "difference": {"value": "difference", "ci_low": "ci_low", "ci_high": "ci_high", "n": "n"},
    "corrected_t": {"value": "t", "df": "df", "p": "p", "p_holm": "p_holm"},
    "posterior": {"left": "p_left", "rope": "p_rope", "right": "p_right"},
    "mcnemar": {"p": "p_mcnemar", "left_only": "left_only", "right_only": "right_only"},
    "legacy_paired_t": {"value": "legacy_t", "p": "legacy_p"},
    "cohens_d": {"value": "cohens_d"},
    "equivalence": {
        "p": "p_equivalence",
        "shown": "equivalent",
        "smallest_margin": "smallest_margin",
    },
    "detectable_difference": {"value": "detectable_difference"},
}
"""What a metrics file holds of a difference and of each test, by attribute of a comparison."""


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


def compare_all(predictions: pl.DataFrame, settings: SignificanceSettings) -> list[Comparison]:
    """The contrasts on their feature set; p is adjusted over them."""
    feature_sets = predictions["feature_set"].unique().sort().to_list()
    if settings.feature_set not in feature_sets:
        problem = f"{settings.feature_set!r} was not predicted."
        remedy = f"Known are {', '.join(feature_sets)}."
        raise BadInputError("params.yaml", "significance.feature_set", problem, remedy)
    scores = paired_scores(predictions.filter(feature_set=settings.feature_set))
    _check_contrasts(settings.contrasts, scores.methods)
    bounds = difference_bounds(scores, settings.contrasts, settings)
    effect = detectable_effect(scores.folds.height - 1, settings.alpha, settings.power)
    compared = [
        _comparison(scores, pair, bound, effect, settings)
        for pair, bound in zip(settings.contrasts, bounds, strict=True)
    ]
    adjusted = multipletests([each.p for each in compared], alpha=settings.alpha, method="holm")[1]
    return [
        each.model_copy(update={"p_holm": float(p)})
        for each, p in zip(compared, adjusted, strict=True)
    ]


def _check_contrasts(contrasts: tuple[Pair, ...], methods: tuple[str, ...]) -> None:
    for method in (method for contrast in contrasts for method in contrast):
        if method not in methods:
            problem = f"{method!r} was not predicted."
            remedy = f"Known methods are {', '.join(methods)}."
            raise BadInputError("params.yaml", "significance.contrasts", problem, remedy)
    named = {frozenset(contrast) for contrast in contrasts}
    if len(named) < len(contrasts) or any(len(pair) < 2 for pair in named):
        problem = "a pair is named twice, or a method is held against itself."
        remedy = "Name each pair of two methods once."
        raise BadInputError("params.yaml", "significance.contrasts", problem, remedy)


def _comparison(
    scores: PairedScores,
    pair: Pair,
    bounds: tuple[float, float] | None,
    effect: float,
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
            *fold_scores,
            rope=settings.practical_equivalence,
            runs=scores.folds["repeat"].n_unique(),
        )
    )
    left_only, right_only, p_mcnemar = discordant(scores.first, pair)
    first = scores.folds.filter(pl.col("repeat") == pl.col("repeat").min())
    legacy_t, legacy_p = paired_t(first[left].to_numpy(), first[right].to_numpy())
    equal = equivalence(tested, settings.equivalence_margin, settings.alpha)
    low, high = bounds or (None, None)
    return Comparison(
        feature_set=settings.feature_set,
        left=left,
        right=right,
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
