"""The anatomy of unknown scenarios as tables: answers, look-alikes, and added measurements."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.evaluation.added_measurements import ADDED, BASE
from failbench.evaluation.unknown_anatomy import UnknownAnatomy, UnknownAnatomySettings
from failbench.methods.diagnosis import ABSTAIN, Answer
from failbench.reporting.cells import interval_cell, two_decimals, words
from failbench.reporting.markup import Column, Table
from failbench.reporting.method_labels import METHOD_LABELS, method_label
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.tables import ABSENT, percent, three_decimals, with_interval
from failbench.scenarios import Ambiguity

LETTERS: Mapping[Answer, str] = {
    "memory_hardware": "M",
    "optimization": "O",
    "data_pipeline": "D",
    "model_software": "S",
    "unknown": "U",
    ABSTAIN: "a",
}

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

ANSWERS_NOTE = (
    "The category that each method names most often over the repeats of the main study, on the "
    "paper's 19 features, and percent of the repeats that name it. M memory and hardware, O "
    "optimization, D data pipeline, S model and software, U unknown (right), a abstained. The unit "
    "is one scenario: no interval."
)
METHODS_NOTE = (
    "Unknown and abstained: percent of answers to the {n} unknown scenarios, with Wilson's "
    "{confidence:g} % intervals, as {n} are few. Entropy of the probabilities, from 0 (certain) to "
    "1 (all categories alike), on unknown and on labelled scenarios; told apart by it: the "
    "probability that an unknown scenario has the larger one (0.5: not at all), resampling "
    "scenarios within categories."
)
REPORTED_NOTE = (
    "Reported: how many of its 8 unknown cases the paper says were told (Section 6.12 for the "
    "language models; for the improved rules those that Section 7.1 does not say were put into a "
    "category, abstentions among them). –: not measured, or not reported."
)
SCENARIOS_NOTE = (
    "Would settle it: where the cause shows, which is not recorded. Recorded: what is nearest to "
    "it. Right: percent of {repeats} repeats in which a forest of "
    "fixed settings says unknown, on the paper's features without and with what is recorded. "
    "Shares of kinds, reported and here: truly ambiguous {ambiguous}, insufficient signal "
    "{insufficient}, conservative labelling {conservative} %."
)
NEIGHBOURS_NOTE = (
    "Nearest: labelled runs in the standardised space of the 19 features, with their distance in "
    "standard deviations. Same surface: labelled scenarios with the same outcome, error text or "
    "none, and exit signal. M memory and hardware, O optimization, D data pipeline, S model and "
    "software."
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


def anatomy_tables(
    found: UnknownAnatomy, settings: UnknownAnatomySettings, reported: Mapping[str, object]
) -> tuple[Table, ...]:
    """What is said of unknown scenarios, what they look like, and what would settle them.

    Parameters
    ----------
    found
        The anatomy.
    settings
        Its settings.
    reported
        The parsed ``data/reported/paper.yaml``.

    Raises
    ------
    BadInputError
        If a method has no label, or ``reported`` is not as
        :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    return (
        _answers_table(found),
        _methods_table(found, settings, paper),
        _scenarios_table(found, settings, paper),
        _neighbours_table(found),
        _measurements_table(found, settings),
    )


def _answers_table(found: UnknownAnatomy) -> Table:
    methods = _in_order(found.methods)
    cells = {
        (row["scenario"], row["method"]): f"{LETTERS[row['answer']]} {100 * row['share']:.0f}"
        for row in found.answers.iter_rows(named=True)
    }
    scenarios = found.scenarios["scenario"].to_list()
    return Table(
        "unknown_answers",
        (
            Column("Scenario", align="left"),
            *(Column(method_label(method), align="left") for method in methods),
        ),
        tuple(
            (words(scenario), *(cells[scenario, method] for method in methods))
            for scenario in scenarios
        ),
        f"What every method says of the {len(scenarios)} unknown scenarios.",
        (ANSWERS_NOTE,),
    )


def _methods_table(
    found: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> Table:
    total = found.scenarios.height
    told = {
        "improved_rules": 8 - reported_number(paper, "unknown_assigned"),
        "mistral_7b": reported_number(paper, "unknown_right_mistral"),
        "llama_3_8b": reported_number(paper, "unknown_right_llama"),
    }
    rows = []
    for method in METHOD_LABELS:
        figures = found.methods.get(method)
        if figures is None and method not in told:
            continue
        names = ("recall", "abstained")
        scores = ("entropy_unknown", "entropy_labelled", "separation")
        rows.append(
            (
                method_label(method),
                f"{told[method]:.0f} of 8" if method in told else ABSENT,
                *(ABSENT if figures is None else interval_cell(figures[name]) for name in names),
                *(
                    ABSENT if figures is None else interval_cell(figures[name], two_decimals)
                    for name in scores
                ),
            )
        )
    return Table(
        "unknown_methods",
        (
            Column("Method", align="left"),
            Column("Told (reported)"),
            Column("Unknown"),
            Column("Abstained"),
            Column("on unknown", "Entropy"),
            Column("on labelled", "Entropy"),
            Column("Told apart by it"),
        ),
        tuple(rows),
        "How methods do on unknown scenarios, and whether they know that they do not know.",
        (METHODS_NOTE.format(n=total, confidence=100 * settings.confidence), REPORTED_NOTE),
    )


def _scenarios_table(
    found: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> Table:
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


def _neighbours_table(found: UnknownAnatomy) -> Table:
    rows = []
    for scenario in found.scenarios["scenario"]:
        near = found.neighbours.filter(scenario=scenario).sort("rank")
        same = found.partners.filter(scenario=scenario)
        rows.append(
            (
                words(scenario),
                ", ".join(
                    f"{words(row['neighbour'])} ({LETTERS[row['neighbour_category']]}, "
                    f"{row['distance']:.2f})"
                    for row in near.iter_rows(named=True)
                ),
                ", ".join(
                    f"{words(row['partner'])} ({LETTERS[row['partner_category']]})"
                    for row in same.iter_rows(named=True)
                )
                or ABSENT,
            )
        )
    return Table(
        "unknown_neighbours",
        (
            Column("Scenario", align="left"),
            Column("Nearest labelled runs", align="left"),
            Column("Same surface", align="left"),
        ),
        tuple(rows),
        "The look-alikes of the unknown scenarios.",
        (NEIGHBOURS_NOTE,),
    )


def _measurements_table(found: UnknownAnatomy, settings: UnknownAnatomySettings) -> Table:
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


def _in_order(methods: Mapping[str, object]) -> list[str]:
    """Methods in the order of their labels; those without a label are refused by their label."""
    known = [method for method in METHOD_LABELS if method in methods]
    return [*known, *sorted(set(methods) - set(METHOD_LABELS))]


def anatomy_points(found: UnknownAnatomy) -> pl.DataFrame:
    """What a forest makes of the unknown scenarios, for the figure.

    Returns
    -------
    polars.DataFrame
        ``ambiguity``, ``scenario``, ``feature_set``, the mean probability of each category,
        ``right`` and ``entropy``.
    """
    return (
        found.scenarios.join(found.posteriors, on="scenario", maintain_order="left")
        .select(
            "ambiguity",
            "scenario",
            "feature_set",
            pl.exclude("ambiguity", "scenario", "feature_set"),
        )
        .sort("ambiguity", "scenario", "feature_set")
    )
