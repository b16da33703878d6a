"""Tables of the label audit: agreement as a whole and by label, and the contested scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from failbench.reporting.cells import ABSENT, interval_cell, percent, two_decimals, words
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.label_audit.raters import RATERS
from failbench.studies.label_audit.results import ALL, BOTH, LabelAudit
from failbench.vocabulary import CATEGORIES

REPORTED_KAPPA = "fleiss_kappa"
SUBJECT_LABELS = {
    RATERS[0]: "Rater 1 and the labels",
    RATERS[1]: "Rater 2 and the labels",
    BOTH: "Rater 1 and rater 2",
}
REPORTED_LABEL = "Reported: the paper's two annotators, people"

RATERS_NOTE = (
    "Raters: two language models, which stand in for no human rater. Each worked alone and was "
    "told the titles and one-line root causes of the scenarios, in shuffled order among other "
    "causes, and one line per category; no label, scenario file, code, recording or count. The "
    "labels were fixed before and stay as they are."
)
OVERALL_NOTE = (
    "Agreement: percent of scenarios put in one category. Label among two: percent whose label is "
    "the rater's first or second choice. Contested: percent where the rater expects some engineers "
    "to disagree, or half of them; evenly divided: percent where it expects half of them to; in "
    "the row of both raters, where at least one does. Brackets: {interval:g} % intervals, n = {n} "
    "scenarios: BCa by resampling them within categories, Wilson's for shares of {wilson} % or "
    "more."
)
REPORTED_NOTE = (
    "Reported: the paper had each of its scenarios labelled by two people and prints a Fleiss "
    "kappa of {reported} (Section 3.2), without interval; it does not say what they were shown, "
    "and its scenarios are not these. Fleiss' kappa of the rows above is {fleiss}."
)
CEILING_NOTE = (
    "Ceiling: a reader who found every cause and put it as those lines do would be scored right "
    "about as often as the raters, in {low} to {high} % of scenarios. So about {high} {bounds} % "
    "is the accuracy that finding causes can reach; the rest turns on conventions of where a cause "
    "belongs (docs/categories.md), which a method that learns from labels may learn, too."
)
CATEGORIES_NOTE = (
    "Agreement: percent of the scenarios of the label that are put in one category. Kappa: of that "
    "category against all others, over all {n} scenarios. Brackets: {interval:g} % intervals over "
    "scenarios: BCa by resampling them within categories, Wilson's for shares of {wilson} % or "
    "more and of fewer than {few} scenarios; none where the two never differ on the category, of "
    "which resampling says nothing."
)
CONTESTED_NOTE = (
    "Shown are the {shown} of {n} scenarios where a rater differs from the label, or expects "
    "engineers to be evenly divided. Contest: what the rater expects of engineers, 0 none would "
    "disagree, 1 some would, 2 they would be evenly divided. Second: the rater's second choice. "
    "docs/categories.md says how such causes are placed, and where that conflicts with a label."
)


@dataclass(frozen=True)
class Comparison:
    """A row of the first table: two sorts of labels of the same scenarios."""

    label: str
    kappa: str
    estimates: Mapping[str, Interval]

    def share(self, metric: str) -> str:
        """A share with its interval, if there is one."""
        return interval_cell(self.estimates[metric]) if metric in self.estimates else ABSENT

    @property
    def alike(self) -> str:
        """How many scenarios are put in one category."""
        if "agreement" not in self.estimates:
            return ABSENT
        agreement = self.estimates["agreement"]
        return f"{round(agreement.value * agreement.n)} of {agreement.n}"


def label_audit_tables(
    audit: LabelAudit, paper: Reported, settings: ScenarioIntervalSettings
) -> tuple[Table, ...]:
    """Agreement over all scenarios and by label, and the scenarios that are contested."""
    return (
        _overall_table(audit, paper, settings),
        _categories_table(audit, settings),
        _contested_table(audit),
    )


def _kappa_cell(kappa: Interval) -> str:
    without = kappa.method == "point"
    return two_decimals(kappa.value) if without else interval_cell(kappa, two_decimals)


def _overall_table(audit: LabelAudit, paper: Reported, settings: ScenarioIntervalSettings) -> Table:
    reported = two_decimals(reported_number(paper, REPORTED_KAPPA))
    comparisons = []
    for subject, label in SUBJECT_LABELS.items():
        estimates = audit.of(subject, ALL)
        comparisons.append(Comparison(label, _kappa_cell(estimates["kappa"]), estimates))
    return Table.of(
        "label_audit",
        (
            Column("Compared", align="left", cell=lambda row: row.label),
            Column("Alike", cell=lambda row: row.alike),
            Column("Agreement", cell=lambda row: row.share("agreement")),
            Column("Kappa", cell=lambda row: row.kappa),
            Column("Label among two", cell=lambda row: row.share("label_among_two")),
            Column("Contested", cell=lambda row: row.share("contested")),
            Column("Evenly divided", cell=lambda row: row.share("evenly_divided")),
        ),
        [*comparisons, Comparison(REPORTED_LABEL, reported, {})],
        "How far two language models that were told causes agree with the labels of the "
        f"{audit.ratings.height} scenarios.",
        (
            RATERS_NOTE,
            OVERALL_NOTE.format(
                interval=100 * settings.confidence,
                n=audit.ratings.height,
                wilson=f"{100 * settings.wilson_from:g}",
            ),
            REPORTED_NOTE.format(reported=reported, fleiss=_fleiss(audit)),
            _ceiling_note(audit),
        ),
    )


def _fleiss(audit: LabelAudit) -> str:
    *others, last = (two_decimals(audit.fleiss[subject]) for subject in SUBJECT_LABELS)
    return f"{', '.join(others)} and {last}"


def _ceiling_note(audit: LabelAudit) -> str:
    """What a reader of causes would be scored at, were labels the truth."""
    low, high = sorted(
        (audit.of(rater, ALL)["agreement"] for rater in RATERS), key=lambda share: share.value
    )
    return CEILING_NOTE.format(
        low=percent(low.value),
        high=percent(high.value),
        bounds=f"[{percent(high.ci_low)}, {percent(high.ci_high)}]",
    )


def _categories_table(audit: LabelAudit, settings: ScenarioIntervalSettings) -> Table:
    def scenarios(category: str) -> str:
        return str(audit.of(BOTH, category)["agreement"].n)

    def agreement(subject: str) -> Column:
        return Column(
            "Agreement",
            SUBJECT_LABELS[subject],
            cell=lambda category: interval_cell(audit.of(subject, category)["agreement"]),
        )

    def kappa(subject: str) -> Column:
        return Column(
            "Kappa",
            SUBJECT_LABELS[subject],
            cell=lambda category: _kappa_cell(audit.of(subject, category)["kappa"]),
        )

    return Table.of(
        "label_audit_categories",
        (
            Column("Label", align="left", cell=lambda category: CATEGORY_LABELS[category]),
            Column("Scenarios", cell=scenarios),
            *(column(subject) for subject in SUBJECT_LABELS for column in (agreement, kappa)),
        ),
        CATEGORIES,
        "How far two language models that were told causes agree with each label.",
        (
            RATERS_NOTE,
            CATEGORIES_NOTE.format(
                n=audit.ratings.height,
                interval=100 * settings.confidence,
                wilson=f"{100 * settings.wilson_from:g}",
                few=settings.wilson_below,
            ),
        ),
    )


def _contested_table(audit: LabelAudit) -> Table:
    return Table.of(
        "label_audit_contested",
        (
            Column("Scenario", align="left", cell=lambda row: words(row["scenario"])),
            Column("Root cause", align="left", width=0.3, cell=lambda row: row["root_cause"]),
            Column("Label", align="left", cell=lambda row: words(row["category"])),
            *(column for rater in RATERS for column in _rater_columns(rater)),
            Column("Differs", align="left", cell=_who_differs),
        ),
        audit.contested.iter_rows(named=True),
        "The contested scenarios: what two language models answered that were told the causes.",
        (
            RATERS_NOTE,
            CONTESTED_NOTE.format(shown=audit.contested.height, n=audit.ratings.height),
        ),
    )


def _rater_columns(rater: str) -> tuple[Column, ...]:
    number, group = rater[-1], words(rater).capitalize()
    return (
        Column("Answer", group, "left", cell=lambda row: words(row[rater])),
        Column("Contest", group, cell=lambda row: str(row[f"contest_{number}"])),
        Column("Second", group, "left", cell=lambda row: words(row[f"second_{number}"] or ABSENT)),
    )


def _who_differs(row: Mapping[str, Any]) -> str:
    """The raters whose answer is not the label."""
    differing = [words(rater) for rater in RATERS if row[rater] != row["category"]]
    return " and ".join(differing) or ABSENT
