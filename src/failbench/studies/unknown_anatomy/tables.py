"""The anatomy of unknown scenarios as tables: answers, look-alikes, and added measurements."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.reporting.cells import ABSENT, interval_cell, two_decimals, words
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.unknown_anatomy.added_measurements_table import (
    measurements_table,
    settling_table,
)
from failbench.studies.unknown_anatomy.results import UnknownAnatomy, UnknownAnatomySettings
from failbench.vocabulary import ABSTAIN, Answer

LETTERS: Mapping[Answer, str] = {
    "memory_hardware": "M",
    "optimization": "O",
    "data_pipeline": "D",
    "model_software": "S",
    "unknown": "U",
    ABSTAIN: "a",
}

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
NEIGHBOURS_NOTE = (
    "Nearest: labelled runs in the standardised space of the 19 features, with their distance in "
    "standard deviations. Same surface: labelled scenarios with the same outcome, error text or "
    "none, and exit signal. M memory and hardware, O optimization, D data pipeline, S model and "
    "software."
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
        settling_table(found, settings, paper),
        _neighbours_table(found),
        measurements_table(found, settings),
    )


def _answers_table(found: UnknownAnatomy) -> Table:
    methods = in_label_order(found.methods)
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
    for method in in_label_order((*found.methods, *told)):
        figures = found.methods.get(method)
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
