"""Comparison: all that is known of how two methods differ, as one record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import polars as pl

from failbench.base.records import Record

Family = Literal["contrast", "exploratory"]


class Difference(Record):
    """Two methods on one feature set; differences are ``left`` less ``right``, as fractions.

    Attributes
    ----------
    n, folds
        Scenarios, and folds over all repeats.
    difference
        Of the accuracies over scenarios, which are means over repeats.
    ci_low, ci_high
        BCa bounds of it over scenarios; None where all resamples agree, and so say nothing.
    """

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
    """A difference, and every test of it.

    Attributes
    ----------
    family
        ``contrast`` for those named beforehand, whose p values are adjusted for one another;
        ``exploratory`` for all others, whose p values are not.
    t, df, p
        Corrected resampled t test of the fold differences.
    p_holm
        ``p`` adjusted by Holm's method over the contrasts; None for other pairs.
    p_left, p_rope, p_right
        Posterior probabilities that left is better by more than the region of practical
        equivalence, that neither is, and that right is.
    left_only, right_only, p_mcnemar
        Scenarios that only one method has right in the first repeat, and McNemar's exact p.
    legacy_t, legacy_p
        The paper's paired t test over the folds of the first repeat, kept for comparison with it:
        folds share training runs, which it ignores.
    cohens_d
        Mean over standard deviation of the differences of scenarios.
    p_equivalence, equivalent, smallest_margin
        Two one-sided tests with the corrected variance, their verdict, and the margin from which
        on it would have been positive.
    detectable_difference
        The smallest true difference that this study finds with the power of the settings, at the
        level before adjustment; None where all folds agree.
    """

    family: Family
    t: float
    df: int
    p: float
    p_holm: float | None = None
    p_left: float
    p_rope: float
    p_right: float
    left_only: int
    right_only: int
    p_mcnemar: float
    legacy_t: float
    legacy_p: float
    cohens_d: float
    p_equivalence: float
    equivalent: bool
    smallest_margin: float
    detectable_difference: float | None

    @property
    def reported_p(self) -> float:
        """The p to judge by: adjusted for a contrast, as it is for an exploratory pair."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def untested(self) -> Difference:
        """The difference alone: an in-sample one has no p value."""
        return Difference(**self.model_dump(include=set(Difference.model_fields)))


def contrasts_of(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Those that were named beforehand, in their order."""
    return [comparison for comparison in comparisons if comparison.family == "contrast"]


def comparisons_table(comparisons: Sequence[Difference]) -> pl.DataFrame:
    """One row per comparison, one column per attribute; null what an untested one has not."""
    return pl.DataFrame(
        [comparison.model_dump() for comparison in comparisons], infer_schema_length=None
    )


def comparison_metrics(
    comparisons: Sequence[Comparison], alpha: float
) -> dict[str, dict[str, object]]:
    """The contrasts in nested scalars, and how many exploratory pairs differ at level ``alpha``."""
    exploratory: dict[str, object] = {}
    for name in sorted({comparison.feature_set for comparison in comparisons}):
        p_values = [
            comparison.p
            for comparison in comparisons
            if comparison.feature_set == name and comparison.family == "exploratory"
        ]
        exploratory[name] = {"value": sum(p <= alpha for p in p_values), "n": len(p_values)}
    contrasts = difference_metrics(contrasts_of(comparisons))
    return {"contrasts": contrasts, "exploratory_below_level": exploratory}


def difference_metrics(differences: Iterable[Difference]) -> dict[str, object]:
    """Differences in nested scalars, with the tests of those that were tested.

    What one has not, or what is infinite because all folds agree, is left out.
    """
    return {f"{each.left}_less_{each.right}": _leaves(each) for each in differences}


def _leaves(difference: Difference) -> dict[str, dict[str, float]]:
    nested = {
        "difference": {
            "value": difference.difference,
            "ci_low": difference.ci_low,
            "ci_high": difference.ci_high,
            "n": difference.n,
        },
        **(_tests(difference) if isinstance(difference, Comparison) else {}),
    }
    finite = {
        name: {
            key: value
            for key, value in leaves.items()
            if value is not None and math.isfinite(value)
        }
        for name, leaves in nested.items()
    }
    return {name: leaves for name, leaves in finite.items() if leaves}


def _tests(comparison: Comparison) -> dict[str, dict[str, float | None]]:
    return {
        "corrected_t": {
            "value": comparison.t,
            "df": comparison.df,
            "p": comparison.p,
            "p_holm": comparison.p_holm,
        },
        "posterior": {
            "left": comparison.p_left,
            "rope": comparison.p_rope,
            "right": comparison.p_right,
        },
        "mcnemar": {
            "p": comparison.p_mcnemar,
            "left_only": comparison.left_only,
            "right_only": comparison.right_only,
        },
        "legacy_paired_t": {"value": comparison.legacy_t, "p": comparison.legacy_p},
        "cohens_d": {"value": comparison.cohens_d},
        "equivalence": {
            "p": comparison.p_equivalence,
            "shown": comparison.equivalent,
            "smallest_margin": comparison.smallest_margin,
        },
        "detectable_difference": {"value": comparison.detectable_difference},
    }
