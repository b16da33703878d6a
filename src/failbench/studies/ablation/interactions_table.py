"""Table of interactions: what two groups of signals gain together, over each baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from failbench.reporting.cells import ABSENT, percent, signed, with_interval
from failbench.reporting.labels import GROUP_LABELS, METHOD_LABELS
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.studies.ablation.measure import RULES
from failbench.studies.ablation.superadditivity import (
    Baseline,
    Interaction,
    reported_interactions,
)
from failbench.studies.ablation.variants import REPORTED_ROWS, VARIANTS

INTERACTION_NOTE = (
    "Accuracies in percent. Surplus: points that both groups gain together over a baseline, less "
    "what each gains alone: v(both) – v(first) – v(second) + baseline, whose interval goes with "
    "it. The verdict stands at the baseline that a method has with no signal: the improved rules "
    "abstain (nothing), and the forest names the largest category (majority). Over a higher "
    "baseline even two groups that tell nothing would have a surplus. Measured: {confidence:g} % "
    "intervals by resampling n scenarios within categories, then their seeds. Reported: an "
    "interval for three independent sets of answers, as those behind the accuracies are not "
    "published."
)

ByBaseline = Mapping[Baseline, Interaction]
"""A row of the table: one method on one feature set, reported or measured."""


def reported_surplus(paper: Reported, confidence: float) -> tuple[Interaction, ...]:
    """The interaction of memory and perplexity in the paper's own figures."""
    first, second, both = (
        paper.tables.ablation.rows[REPORTED_ROWS[subset]].accuracy
        for subset in ("memory", "perplexity", "memory+perplexity")
    )
    n = reported_number(paper, "scenarios")
    majority = reported_number(paper, "scenarios_memory_hardware") / n
    return reported_interactions(
        first, second, both, int(n), majority, confidence, RULES, "nothing"
    )


def interactions_table(
    interactions: Iterable[Interaction], parts: tuple[str, str], *, confidence: float
) -> Table:
    """Whether two groups of signals are superadditive: a row per method, a column per baseline."""
    ordered = sorted(interactions, key=_position)
    rows: dict[tuple[str, str, str], dict[Baseline, Interaction]] = {}
    for row in ordered:
        rows.setdefault((row.source, row.method, row.feature_set), {})[row.baseline] = row
    first, second = (GROUP_LABELS[part] for part in parts)
    # the last in the order is measured, as the headings are
    baselines = {row.baseline: row.baseline_value for row in ordered}
    return Table.of(
        "superadditivity",
        (
            Column("Method", align="left", cell=_method),
            Column("Features", align="left", cell=_features),
            Column(first.capitalize(), "accuracy", cell=lambda row: percent(row["nothing"].first)),
            Column(
                second.capitalize(), "accuracy", cell=lambda row: percent(row["nothing"].second)
            ),
            Column("Both", "accuracy", cell=lambda row: percent(row["nothing"].both)),
            *(
                Column(
                    f"{name.capitalize()} ({percent(value)})", "surplus over", cell=_surplus(name)
                )
                for name, value in baselines.items()
            ),
            Column("n", cell=lambda row: str(row["nothing"].n)),
        ),
        rows.values(),
        f"Whether {first} and {second} are worth more together than one by one.",
        (INTERACTION_NOTE.format(confidence=100 * confidence),),
    )


def _position(interaction: Interaction) -> int:
    """What is reported comes first."""
    if interaction.source == "reported":
        return -1
    return list(VARIANTS).index((interaction.method, interaction.feature_set))


def _method(row: ByBaseline) -> str:
    interaction = row["nothing"]
    if interaction.source == "reported":
        return f"{METHOD_LABELS[interaction.method]}, reported"
    return VARIANTS[interaction.method, interaction.feature_set][0]


def _features(row: ByBaseline) -> str:
    interaction = row["nothing"]
    if interaction.source == "reported":
        return ABSENT
    return VARIANTS[interaction.method, interaction.feature_set][1]


def _surplus(baseline: Baseline) -> Callable[[ByBaseline], str]:
    """The cells of a baseline's column; the verdict stands where the baseline is the method's."""

    def cell(row: ByBaseline) -> str:
        interaction = row[baseline]
        interval = with_interval(
            interaction.value, interaction.ci_low, interaction.ci_high, _points
        )
        return f"{interval}, {interaction.verdict}" if interaction.unaided else interval

    return cell


def _points(value: float) -> str:
    return signed(100 * value)
