"""Sentences: what a paper may print of a contrast, assembled from its record."""

from __future__ import annotations

from collections.abc import Sequence

from failbench.reporting.cells import percent
from failbench.reporting.labels import FEATURE_SET_LABELS, label_inside, made_in_view
from failbench.statistics.comparison import Comparison, Difference
from failbench.statistics.significance import SignificanceSettings


def contrast_sentences(contrasts: Sequence[Difference], settings: SignificanceSettings) -> str:
    """A markdown list with a sentence per contrast."""
    return "".join(f"- {contrast_sentence(contrast, settings)}\n" for contrast in contrasts)


def contrast_sentence(contrast: Difference, settings: SignificanceSettings) -> str:
    """One contrast in one sentence: size, uncertainty, verdicts, and what could have been seen."""
    left, right = label_inside(contrast.left), label_inside(contrast.right)
    features = FEATURE_SET_LABELS.get(contrast.feature_set, contrast.feature_set)
    size = f"On {features} features, {left} diagnosed {_size(contrast)} {right}"
    interval = _interval(contrast, settings)
    if not isinstance(contrast, Comparison):
        seen = " and ".join(
            label_inside(name) for name in (contrast.left, contrast.right) if made_in_view(name)
        )
        return (
            f"{size} ({interval}); this is an in-sample difference (development) and is not "
            f"tested, as the rules behind {seen} were made with these scenarios in view."
        )
    verdict = "is shown" if contrast.equivalent else "is not shown"
    return (
        f"{size} ({interval}; corrected resampled t({contrast.df}) = "
        f"{contrast.t:.2f}, Holm-adjusted {_p(contrast.reported_p)}); the posterior probability "
        f"that the two differ by less than {100 * settings.practical_equivalence:g} points is "
        f"{contrast.p_rope:.2f}, with {contrast.p_left:.2f} for {left} and "
        f"{contrast.p_right:.2f} for {right} being better by more; equivalence within "
        f"{100 * settings.equivalence_margin:g} points {verdict} "
        f"({_p(contrast.p_equivalence)}; the smallest margin that would have succeeded is "
        f"{percent(contrast.smallest_margin)} points); {_detectable(contrast, settings)}."
    )


def _size(contrast: Difference) -> str:
    size = percent(abs(contrast.difference))
    if size == percent(0):
        return "as many scenarios right as"
    direction = "more" if contrast.difference > 0 else "fewer"
    return f"{size} percentage points {direction} of the scenarios right than"


def _interval(contrast: Difference, settings: SignificanceSettings) -> str:
    if contrast.ci_low is None or contrast.ci_high is None:
        return "no interval, as all resamples of the scenarios agree"
    return (
        f"{100 * settings.confidence:g} % interval of the difference {percent(contrast.ci_low)} to "
        f"{percent(contrast.ci_high)} points"
    )


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _detectable(contrast: Comparison, settings: SignificanceSettings) -> str:
    if contrast.detectable_difference is None:
        return f"all folds agree, so that the power of n = {contrast.n} scenarios cannot be told"
    return (
        f"the smallest difference that n = {contrast.n} scenarios could have shown with a power of "
        f"{100 * settings.power:g} % is {percent(contrast.detectable_difference)} points"
    )
