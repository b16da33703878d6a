"""Sentences: what a paper may print of a contrast, assembled from its record."""

from __future__ import annotations

from collections.abc import Sequence

from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.markup import Column, Table
from failbench.statistics.comparison import Comparison, contrasts_of
from failbench.statistics.significance import SignificanceSettings

COLUMNS = (
    Column("Contrast", align="left"),
    Column("Difference"),
    Column("t", "corrected resampled t"),
    Column("p", "corrected resampled t"),
    Column("p, Holm", "corrected resampled t"),
    Column("left better", "posterior"),
    Column("practically equal", "posterior"),
    Column("right better", "posterior"),
    Column("p, McNemar"),
    Column("Cohen's d"),
    Column("p", "equivalence"),
    Column("smallest margin", "equivalence"),
    Column("Detectable difference"),
    Column("p, paired t (legacy)"),
    Column("n"),
)

NOTE = (
    "Differences and margins in percentage points of accuracy on feature set {feature_set}, left "
    "less right, with {confidence:g} % BCa intervals by resampling n scenarios within categories. "
    "t: Nadeau and Bengio's test over {folds} folds, {df} degrees of freedom, with Holm's "
    "adjustment over these contrasts. Posterior: Bayesian correlated t test with a region of "
    "practical equivalence of {rope:g} points. McNemar: exact, first repeat. Cohen's d: over "
    "scenarios. Equivalence: two one-sided tests with a margin of {margin:g} points, and the "
    "smallest margin that would have succeeded. Detectable: the smallest true difference found "
    "with a power of {power:g} % before adjustment. Legacy: the paper's paired t test over the "
    "folds of the first repeat, which ignores that they share training runs."
)


def contrasts_table(comparisons: Sequence[Comparison], settings: SignificanceSettings) -> Table:
    """A row a contrast, with every test; other comparisons are left out.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    contrasts = contrasts_of(comparisons)
    return Table(
        "contrasts",
        COLUMNS,
        tuple(_row(one) for one in contrasts),
        "The contrasts that were named before any result was seen.",
        (
            NOTE.format(
                feature_set=settings.feature_set,
                confidence=100 * settings.confidence,
                folds=contrasts[0].folds,
                df=contrasts[0].df,
                rope=100 * settings.practical_equivalence,
                margin=100 * settings.equivalence_margin,
                power=100 * settings.power,
            ),
        ),
    )


def _row(one: Comparison) -> tuple[str, ...]:
    return (
        f"{method_label(one.left)} – {_inside(one.right)}",
        percent(one.difference)
        if one.ci_low is None or one.ci_high is None
        else with_interval(one.difference, one.ci_low, one.ci_high),
        f"{one.t:.2f}",
        three_decimals(one.p),
        three_decimals(one.reported_p),
        three_decimals(one.p_left),
        three_decimals(one.p_rope),
        three_decimals(one.p_right),
        three_decimals(one.p_mcnemar),
        f"{one.cohens_d:.2f}",
        three_decimals(one.p_equivalence),
        percent(one.smallest_margin),
        ABSENT if one.detectable_difference is None else percent(one.detectable_difference),
        three_decimals(one.legacy_p),
        str(one.n),
    )


def contrast_sentences(comparisons: Sequence[Comparison], settings: SignificanceSettings) -> str:
    """A markdown list with a sentence a contrast."""
    lines = [f"- {contrast_sentence(one, settings)}" for one in contrasts_of(comparisons)]
    return "\n".join(lines) + "\n"


def contrast_sentence(one: Comparison, settings: SignificanceSettings) -> str:
    """One contrast in one sentence: size, uncertainty, verdicts, and what could have been seen."""
    left, right = _inside(one.left), _inside(one.right)
    verdict = "is shown" if one.equivalent else "is not shown"
    return (
        f"{method_label(one.left)} diagnosed {_size(one)} {right} "
        f"({_interval(one, settings)}; corrected resampled t({one.df}) = {one.t:.2f}, "
        f"Holm-adjusted {_p(one.reported_p)}); the posterior probability that the two differ by "
        f"less than {100 * settings.practical_equivalence:g} points is {one.p_rope:.2f}, with "
        f"{one.p_left:.2f} for {left} and {one.p_right:.2f} for {right} being better by more; "
        f"equivalence within {100 * settings.equivalence_margin:g} points {verdict} "
        f"({_p(one.p_equivalence)}; the smallest margin that would have succeeded is "
        f"{percent(one.smallest_margin)} points); {_detectable(one, settings)}."
    )


def _inside(method: str) -> str:
    """A label as it reads inside a sentence: names like LightGBM keep their capitals."""
    label = method_label(method)
    named = any(letter.isupper() for letter in label[1:])
    return label if named else label[0].lower() + label[1:]


def _size(one: Comparison) -> str:
    size = percent(abs(one.difference))
    if size == percent(0):
        return "as many scenarios right as"
    direction = "more" if one.difference > 0 else "fewer"
    return f"{size} percentage points {direction} of the scenarios right than"


def _interval(one: Comparison, settings: SignificanceSettings) -> str:
    if one.ci_low is None or one.ci_high is None:
        return "no interval, as all resamples of the scenarios agree"
    return (
        f"{100 * settings.confidence:g} % interval of the difference {percent(one.ci_low)} to "
        f"{percent(one.ci_high)} points"
    )


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _detectable(one: Comparison, settings: SignificanceSettings) -> str:
    if one.detectable_difference is None:
        return f"all folds agree, so that the power of n = {one.n} scenarios cannot be told"
    return (
        f"the smallest difference that n = {one.n} scenarios could have shown with a power of "
        f"{100 * settings.power:g} % is {percent(one.detectable_difference)} points"
    )
