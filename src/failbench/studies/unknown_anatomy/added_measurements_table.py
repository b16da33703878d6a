"""Added measurements as tables: what would settle unknown scenarios, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from failbench.reporting.cells import (
    ABSENT,
    interval_cell,
    percent,
    three_decimals,
    with_interval,
    words,
)
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.scenarios import Ambiguity
from failbench.statistics.comparison import Comparison
from failbench.studies.unknown_anatomy.added_value import SignTest
from failbench.studies.unknown_anatomy.feature_sets import ADDED, BASE
from failbench.studies.unknown_anatomy.results import UnknownAnatomy, UnknownAnatomySettings

SET_LABELS: Mapping[str, str] = {
    BASE: "19",
    "19+step_times": "19 + step times",
    "19+ending": "19 + ending",
    "19+both": "19 + both",
}

SETTLING: Mapping[Ambiguity, tuple[str, str]] = {
    "truly_ambiguous": ("kernel log, records of the scheduler", "how the run ended"),
    "insufficient_signal": ("waiting for input and output", "step times"),
    "conservative_labelling": ("swap activity", "step times"),
}
"""By why a scenario is unknown: what would settle it and is not recorded, and what is instead."""

SCENARIOS_NOTE = (
    "Would settle it: where the cause shows, which is not recorded. Recorded: what is nearest to "
    "it. Right: percent of answers, over runs and {repeats} repeats, in which a forest of "
    "fixed settings says unknown, on the paper's features without and with what is recorded. "
    "Shares of kinds, reported and here: truly ambiguous {ambiguous}, insufficient signal "
    "{insufficient}, conservative labelling {conservative} %."
)
MEASUREMENTS_NOTE = (
    "A forest of fixed settings on the same {repeats} x {folds} folds. Told: percent of the {n} "
    "unknown scenarios, with Wilson's {confidence:g} % intervals. Better, worse: unknown "
    "scenarios that are told more and less often than on 19 features; p of the exact sign test, "
    "which no fewer than {least} better ones without a worse one could make significant. Accuracy: "
    "percent of all {all} scenarios; difference in points with BCa intervals over scenarios; p of "
    "the corrected t, Holm's adjustment over the three; equivalence: p of two one-sided tests with "
    "a margin of {margin:g} points; detectable: the smallest true difference found with a power of "
    "{power:g} %. A forest that says unknown has learnt which runs bear that label, and has not "
    "found the cause. Not recorded: waits for input and output, swap activity, kernel log."
)


def settling_table(
    results: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> Table:
    """A row per unknown scenario: what would settle it, and how often a forest recognises it."""
    right = {
        (row["scenario"], row["feature_set"]): percent(row["right"])
        for row in results.posteriors.iter_rows(named=True)
    }

    def right_on(feature_set: str) -> Column:
        return Column(
            SET_LABELS[feature_set],
            "Right",
            cell=lambda row: right[row["scenario"], feature_set],
        )

    return Table.of(
        "unknown_scenarios",
        (
            Column("Scenario", align="left", cell=lambda row: words(row["scenario"])),
            Column("Why unknown", align="left", cell=lambda row: words(row["ambiguity"])),
            Column(
                "Would settle it (not recorded)",
                align="left",
                cell=lambda row: SETTLING[row["ambiguity"]][0],
            ),
            Column("Recorded", align="left", cell=lambda row: SETTLING[row["ambiguity"]][1]),
            *(right_on(feature_set) for feature_set in SET_LABELS),
        ),
        results.scenarios.iter_rows(named=True),
        "What would settle the unknown scenarios, and what is gained by what is recorded of it.",
        (_scenarios_note(results, settings, paper),),
    )


def _scenarios_note(
    results: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> str:
    total = results.scenarios.height
    shares = {
        kind: f"{percent(reported_number(paper, f'unknown_{kind}'))} and "
        f"{percent(results.scenarios.filter(ambiguity=kind).height / total)}"
        for kind in SETTLING
    }
    return SCENARIOS_NOTE.format(
        repeats=settings.repeats,
        ambiguous=shares["truly_ambiguous"],
        insufficient=shares["insufficient_signal"],
        conservative=shares["conservative_labelling"],
    )


def measurements_table(results: UnknownAnatomy, settings: UnknownAnatomySettings) -> Table:
    """A row per feature set: what it is worth on unknown scenarios, and on all of them."""
    contrasts = {contrast.left: contrast for contrast in results.contrasts}
    unknown, everything = "Unknown scenarios", "All scenarios"

    def rate(heading: str, group: str, metric: str) -> Column:
        return Column(heading, group, cell=lambda name: interval_cell(results.rates[name][metric]))

    def sign(heading: str, text: Callable[[SignTest], str]) -> Column:
        return Column(
            heading,
            unknown,
            cell=lambda name: text(results.signs[name]) if name in ADDED else ABSENT,
        )

    def compared(heading: str, text: Callable[[Comparison], str]) -> Column:
        return Column(
            heading,
            everything,
            cell=lambda name: text(contrasts[name]) if name in ADDED else ABSENT,
        )

    return Table.of(
        "unknown_measurements",
        (
            Column("Features", align="left", cell=lambda name: SET_LABELS[name]),
            rate("told", unknown, "recall_unknown"),
            sign("better", lambda test: str(test.better)),
            sign("worse", lambda test: str(test.worse)),
            sign("p", lambda test: three_decimals(test.p)),
            rate("Accuracy", everything, "accuracy"),
            compared("Difference", _difference),
            compared("p", lambda contrast: three_decimals(contrast.p)),
            compared("p, Holm", lambda contrast: three_decimals(contrast.reported_p)),
            compared("Equivalence", lambda contrast: three_decimals(contrast.p_equivalence)),
            compared("Detectable", _detectable),
        ),
        SET_LABELS,
        "What the unknown scenarios gain from measurements that the features leave out.",
        (_measurements_note(results, settings),),
    )


def _difference(contrast: Comparison) -> str:
    if contrast.ci_low is None or contrast.ci_high is None:
        return f"{100 * contrast.difference:.1f}"
    return with_interval(contrast.difference, contrast.ci_low, contrast.ci_high)


def _detectable(contrast: Comparison) -> str:
    difference = contrast.detectable_difference
    return ABSENT if difference is None else percent(difference)


def _measurements_note(results: UnknownAnatomy, settings: UnknownAnatomySettings) -> str:
    test = next(iter(results.signs.values()))
    contrast = results.contrasts[0]
    return MEASUREMENTS_NOTE.format(
        repeats=settings.repeats,
        folds=contrast.folds // settings.repeats,
        n=test.n,
        confidence=100 * settings.confidence,
        least=test.least or "all",
        all=contrast.n,
        margin=100 * settings.equivalence_margin,
        power=100 * settings.power,
    )
