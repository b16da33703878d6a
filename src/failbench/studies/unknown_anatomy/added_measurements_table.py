"""Added measurements as tables: what would settle unknown scenarios, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping

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
from failbench.studies.unknown_anatomy.added_measurements import ADDED, BASE
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
    "it. Right: percent of {repeats} repeats in which a forest of "
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
    found: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> Table:
    """A row an unknown scenario: what would settle it, and how often a forest tells it.

    Raises
    ------
    BadInputError
        If ``paper`` has no shares of the kinds of unknown cases.
    """
    right = {
        (row["scenario"], row["feature_set"]): percent(row["right"])
        for row in found.posteriors.iter_rows(named=True)
    }
    rows = []
    for scenario, ambiguity in found.scenarios.select("scenario", "ambiguity").iter_rows():
        settles, instead = SETTLING[ambiguity]
        cells = (right[scenario, name] for name in SET_LABELS)
        rows.append((words(scenario), words(ambiguity), settles, instead, *cells))
    shares = {
        kind: f"{percent(reported_number(paper, f'unknown_{kind}'))} and "
        f"{percent(found.scenarios.filter(ambiguity=kind).height / found.scenarios.height)}"
        for kind in SETTLING
    }
    return Table(
        "unknown_scenarios",
        (
            Column("Scenario", align="left"),
            Column("Why unknown", align="left"),
            Column("Would settle it (not recorded)", align="left"),
            Column("Recorded", align="left"),
            *(Column(label, "Right") for label in SET_LABELS.values()),
        ),
        tuple(rows),
        "What would settle the unknown scenarios, and what is gained by what is recorded of it.",
        (
            SCENARIOS_NOTE.format(
                repeats=settings.repeats,
                ambiguous=shares["truly_ambiguous"],
                insufficient=shares["insufficient_signal"],
                conservative=shares["conservative_labelling"],
            ),
        ),
    )


def measurements_table(found: UnknownAnatomy, settings: UnknownAnatomySettings) -> Table:
    """A row a feature set: what it is worth on unknown scenarios, and on all of them."""
    contrasts = {one.left: one for one in found.contrasts}
    rows = []
    for name, label in SET_LABELS.items():
        rates = found.rates[name]
        cells = [label, interval_cell(rates["recall_unknown"])]
        if name in ADDED:
            sign, one = found.signs[name], contrasts[name]
            difference = f"{100 * one.difference:.1f}"
            if one.ci_low is not None and one.ci_high is not None:
                difference = with_interval(one.difference, one.ci_low, one.ci_high)
            cells += [str(sign.better), str(sign.worse), three_decimals(sign.p)]
            tests = (one.p, one.p_holm, one.p_equivalence)
            cells += [interval_cell(rates["accuracy"]), difference]
            cells += [ABSENT if p is None else three_decimals(p) for p in tests]
            detectable = one.detectable_difference
            cells.append(ABSENT if detectable is None else percent(detectable))
        else:
            cells += [ABSENT] * 3 + [interval_cell(rates["accuracy"])] + [ABSENT] * 5
        rows.append(tuple(cells))
    first = next(iter(found.signs.values()))
    some = found.contrasts[0]
    note = MEASUREMENTS_NOTE.format(
        repeats=settings.repeats,
        folds=some.folds // settings.repeats,
        n=first.n,
        confidence=100 * settings.confidence,
        least=first.least or "all",
        all=some.n,
        margin=100 * settings.equivalence_margin,
        power=100 * settings.power,
    )
    return Table(
        "unknown_measurements",
        (
            Column("Features", align="left"),
            Column("told", "Unknown scenarios"),
            Column("better", "Unknown scenarios"),
            Column("worse", "Unknown scenarios"),
            Column("p", "Unknown scenarios"),
            Column("Accuracy", "All scenarios"),
            Column("Difference", "All scenarios"),
            Column("p", "All scenarios"),
            Column("p, Holm", "All scenarios"),
            Column("Equivalence", "All scenarios"),
            Column("Detectable", "All scenarios"),
        ),
        tuple(rows),
        "What the unknown scenarios gain from measurements that the features leave out.",
        (note,),
    )
