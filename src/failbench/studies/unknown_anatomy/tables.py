"""The anatomy of unknown scenarios as tables: answers, look-alikes, and added measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, interval_cell, percent, two_decimals, words
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.reported import Reported, reported_number
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
    "The category that each method names most often over runs and repeats of the main study, on "
    "the paper's 19 features, and percent of these answers. M memory and hardware, O optimization, "
    "D data pipeline, S model and software, U unknown (right), a abstained. The unit is one "
    "scenario: no interval."
)
METHODS_NOTE = (
    "Unknown and abstained: percent of answers to the {n} unknown scenarios, with Wilson's "
    "{confidence:g} % intervals, as {n} are few. Entropy of the probabilities, from 0 (certain) to "
    "1 (all categories alike), on unknown and on labelled scenarios; told apart by it: the "
    "probability that an unknown scenario has the larger one (0.5: not at all), resampling "
    "scenarios within categories, then their seeds."
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


CONFLICTING = ("activations_paged_exponentially", "weights_paged_exponentially")
"""Unknown scenarios that docs/categories.md would place elsewhere."""

ARBITRARY = ("reads_slow_exponentially",)
"""Unknown by a convention that could have been another."""

LABELS_NOTE = (
    "Unknown is meant to be a cause outside the job that no record of it names. Of the {n} labels "
    f"{len(CONFLICTING)} conflict with that, as their causes name memory "
    f"({', '.join(map(words, CONFLICTING))}), and {len(ARBITRARY)} is arbitrary "
    f"({', '.join(map(words, ARBITRARY))}); docs/categories.md says why they stay."
)


REPORTED_CASES = 8
"""Unknown cases of the paper."""


def anatomy_tables(
    results: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> tuple[Table, ...]:
    """What is answered to unknown scenarios, what they look like, and what would settle them."""
    return (
        _answers_table(results),
        _methods_table(results, settings, paper),
        settling_table(results, settings, paper),
        _neighbours_table(results),
        measurements_table(results, settings),
    )


def _answers_table(results: UnknownAnatomy) -> Table:
    answers = {
        (row["scenario"], row["method"]): f"{LETTERS[row['answer']]} {100 * row['share']:.0f}"
        for row in results.answers.iter_rows(named=True)
    }

    def column(method: str) -> Column:
        return Column(
            method_label(method), align="left", cell=lambda scenario: answers[scenario, method]
        )

    scenarios = results.scenarios["scenario"].to_list()
    return Table.of(
        "unknown_answers",
        (
            Column("Scenario", align="left", cell=words),
            *(column(method) for method in in_label_order(results.methods)),
        ),
        scenarios,
        f"What every method says of the {len(scenarios)} unknown scenarios.",
        (
            ANSWERS_NOTE,
            LABELS_NOTE.format(n=len(scenarios)),
            *development_note(results.methods),
        ),
    )


def _methods_table(
    results: UnknownAnatomy, settings: UnknownAnatomySettings, paper: Reported
) -> Table:
    recognised = {
        "improved_rules": REPORTED_CASES - reported_number(paper, "unknown_assigned"),
        "mistral_7b": reported_number(paper, "unknown_right_mistral"),
        "llama_3_8b": reported_number(paper, "unknown_right_llama"),
    }

    def reported(method: str) -> str:
        if method not in recognised:
            return ABSENT
        return f"{recognised[method]:.0f} of {REPORTED_CASES}"

    def column(
        heading: str, metric: str, number: Callable[[float], str] = percent, group: str = ""
    ) -> Column:
        def cell(method: str) -> str:
            figures = results.methods.get(method)
            return ABSENT if figures is None else interval_cell(figures[metric], number)

        return Column(heading, group, cell=cell)

    return Table.of(
        "unknown_methods",
        (
            Column("Method", align="left", cell=method_label),
            Column("Told (reported)", cell=reported),
            column("Unknown", "recall"),
            column("Abstained", "abstained"),
            column("on unknown", "entropy_unknown", two_decimals, "Entropy"),
            column("on labelled", "entropy_labelled", two_decimals, "Entropy"),
            column("Told apart by it", "separation", two_decimals),
        ),
        in_label_order((*results.methods, *recognised)),
        "How methods do on unknown scenarios, and whether they know that they do not know.",
        (
            METHODS_NOTE.format(n=results.scenarios.height, confidence=100 * settings.confidence),
            LABELS_NOTE.format(n=results.scenarios.height),
            REPORTED_NOTE,
            *development_note(results.methods),
        ),
    )


def _neighbours_table(results: UnknownAnatomy) -> Table:
    def nearest(scenario: str) -> str:
        neighbours = results.neighbours.filter(scenario=scenario).sort("rank")
        return ", ".join(
            f"{words(row['neighbour'])} ({LETTERS[row['neighbour_category']]}, "
            f"{row['distance']:.2f})"
            for row in neighbours.iter_rows(named=True)
        )

    def alike(scenario: str) -> str:
        partners = results.partners.filter(scenario=scenario)
        names = (
            f"{words(row['partner'])} ({LETTERS[row['partner_category']]})"
            for row in partners.iter_rows(named=True)
        )
        return ", ".join(names) or ABSENT

    return Table.of(
        "unknown_neighbours",
        (
            Column("Scenario", align="left", cell=words),
            Column("Nearest labelled runs", align="left", cell=nearest),
            Column("Same surface", align="left", cell=alike),
        ),
        results.scenarios["scenario"],
        "The look-alikes of the unknown scenarios.",
        (NEIGHBOURS_NOTE,),
    )
