"""The table of significance: the contrasts under every test, and those that are not tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, percent, three_decimals, two_decimals, with_interval
from failbench.reporting.labels import FEATURE_SET_LABELS, label_inside, method_label
from failbench.reporting.table import Column, Table
from failbench.statistics.comparison import Comparison, Difference
from failbench.statistics.significance import SignificanceSettings


def _difference(contrast: Difference) -> str:
    if contrast.ci_low is None or contrast.ci_high is None:
        return percent(contrast.difference)
    return with_interval(contrast.difference, contrast.ci_low, contrast.ci_high)


def _tested(
    show: Callable[[float], str], of: Callable[[Comparison], float | None]
) -> Callable[[Difference], str]:
    """A cell that a difference without a test has not."""

    def cell(contrast: Difference) -> str:
        value = of(contrast) if isinstance(contrast, Comparison) else None
        return ABSENT if value is None else show(value)

    return cell


T_TEST, POSTERIOR, EQUIVALENCE = "corrected resampled t", "posterior", "equivalence"

COLUMNS = (
    Column(
        "Features",
        align="left",
        cell=lambda contrast: FEATURE_SET_LABELS.get(contrast.feature_set, contrast.feature_set),
    ),
    Column(
        "Contrast",
        align="left",
        cell=lambda contrast: f"{method_label(contrast.left)} – {label_inside(contrast.right)}",
    ),
    Column("Difference", cell=_difference),
    Column("t", T_TEST, cell=_tested(two_decimals, lambda each: each.t)),
    Column("p", T_TEST, cell=_tested(three_decimals, lambda each: each.p)),
    Column("p, Holm", T_TEST, cell=_tested(three_decimals, lambda each: each.reported_p)),
    Column("left better", POSTERIOR, cell=_tested(three_decimals, lambda each: each.p_left)),
    Column("practically equal", POSTERIOR, cell=_tested(three_decimals, lambda each: each.p_rope)),
    Column("right better", POSTERIOR, cell=_tested(three_decimals, lambda each: each.p_right)),
    Column("p, McNemar", cell=_tested(three_decimals, lambda each: each.p_mcnemar)),
    Column("Cohen's d", cell=_tested(two_decimals, lambda each: each.cohens_d)),
    Column("p", EQUIVALENCE, cell=_tested(three_decimals, lambda each: each.p_equivalence)),
    Column(
        "smallest margin", EQUIVALENCE, cell=_tested(percent, lambda each: each.smallest_margin)
    ),
    Column("Detectable difference", cell=_tested(percent, lambda each: each.detectable_difference)),
    Column("p, paired t (legacy)", cell=_tested(three_decimals, lambda each: each.legacy_p)),
    Column("n", cell=lambda contrast: str(contrast.n)),
)

NOTE = (
    "Differences and margins in percentage points of accuracy, left less right, with "
    "{confidence:g} % BCa intervals by resampling n scenarios within categories, then their seeds; "
    "{repeats} repeats. Both sets of rules read the error text under either feature set, and "
    "classifiers its keywords on {primary} alone: there like is held against like, and it is the "
    "primary comparison; the paper's features stand beside it. t: Nadeau and Bengio's test over "
    "{folds} folds, {df} degrees of freedom, with Holm's adjustment over the contrasts of a "
    "feature set. Posterior: Bayesian correlated t test with a region of practical equivalence of "
    "{rope:g} points. McNemar: exact, first repeat. Cohen's d: over scenarios. Equivalence: two "
    "one-sided tests with a margin of {margin:g} points, and the smallest margin that would have "
    "succeeded. Detectable: the smallest true difference found with a power of {power:g} % before "
    "adjustment. Legacy: the paper's paired t test over the folds of the first repeat, which "
    "ignores that they share training runs. –: not tested."
)
NAMING_NOTE = (
    "The list of contrasts was written down on 21 November 2026, a day after accuracies of the "
    "forest and of rules had been published: of the contrasts between these it was not blind."
)
INVARIANTS_NOTE = (
    " Contrasts of the invariants were named in the plan of the monitor. Compared here are its "
    "last rules, made with these scenarios in view: their differences are in-sample (development), "
    "with an interval and without a test, and Holm's adjustment leaves them out."
)


def contrasts_table(
    contrasts: Sequence[Difference], settings: SignificanceSettings, repeats: int
) -> Table:
    """A row per contrast, with every test of those that are tested."""
    development = development_note(
        method for contrast in contrasts for method in (contrast.left, contrast.right)
    )
    return Table.of(
        "contrasts",
        COLUMNS,
        contrasts,
        "The named contrasts, under every test unless they are in-sample.",
        (
            NOTE.format(
                primary=FEATURE_SET_LABELS.get(settings.feature_set, settings.feature_set),
                repeats=repeats,
                confidence=100 * settings.confidence,
                folds=contrasts[0].folds,
                df=contrasts[0].folds - 1,
                rope=100 * settings.practical_equivalence,
                margin=100 * settings.equivalence_margin,
                power=100 * settings.power,
            ),
            NAMING_NOTE + (INVARIANTS_NOTE if development else ""),
            *development,
        ),
    )
