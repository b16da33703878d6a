"""Tables of the rules: the simple ones in order, the nodes of the tree, and its signals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.improved_tree import TREE
from failbench.methods.rule_tree import Abstention, Confirmation, Leaf, Refinement
from failbench.methods.rules import Declared, ErrorMatches, Rule
from failbench.methods.simple_rules import FALLBACK, SIMPLE_RULES, SimpleRulesSettings
from failbench.reporting.cells import ABSENT, words
from failbench.reporting.labels import SHORT_LABELS
from failbench.reporting.table import Column, Table
from failbench.studies.benchmark.conditions import in_words, number, origin, short, threshold

BAND_NOTE: Final = (
    "Healthy band: mean of the {healthy} healthy runs of the main study's setting plus or minus "
    "{sds:g} standard deviations; the thresholds that follow from it are printed here for that "
    "setting, and are others in others. Limits are those that the paper prints. No threshold comes "
    "from a failing run."
)
SIMPLE_HISTORY_NOTE: Final = (
    "The list is older than the first recordings, by the history of the repository, and no rule "
    "was added, dropped or moved since."
)
TREE_HISTORY_NOTE: Final = (
    "The tree first stands in the history of the repository on 21 November 2026, a day after the "
    "first failing runs were recorded: that none of its nodes owes anything to them cannot be seen "
    "from it."
)
SIMPLE_NOTE: Final = (
    "They are asked in this order, and the first that holds decides; where none does, the answer "
    "is {fallback}."
)
TREE_NOTE: Final = (
    "At the root and at each refinement the first child whose conditions all hold is taken; the "
    "last one has none. A leaf names its category if all signals that confirm it hold, none that "
    "contradicts it does, none of them is missing, and the least of their weights, which are "
    "precisions among the training runs, reaches {tau:g}; else it abstains. Weights alone are "
    "learned. The table improved_signals says what each signal is."
)


@dataclass(frozen=True)
class Node:
    """A node of the tree of the improved rules, in the order in which it is asked."""

    number: str
    depth: int
    name: str
    when: tuple[Declared, ...]
    answer: str
    confirms: tuple[Declared, ...]
    against: tuple[Declared, ...]
    source: str

    @property
    def when_words(self) -> str:
        """What leads to it, in short."""
        if not self.depth:
            return ""
        return ", ".join(map(short, self.when)) or "else"


def nodes() -> tuple[Node, ...]:
    """The nodes of the tree, each refinement before its leaves."""
    rows = [Node("0", 0, words(TREE.name), (), "", (), (), TREE.source)]
    for place, refinement in enumerate(TREE.refinements, start=1):
        rows.append(_refinement(str(place), refinement))
        rows += [
            _leaf(f"{place}.{inner}", leaf) for inner, leaf in enumerate(refinement.leaves, start=1)
        ]
    return tuple(rows)


def _refinement(place: str, node: Refinement[Declared]) -> Node:
    return Node(place, 1, words(node.name), node.when, "", (), (), node.source)


def _leaf(place: str, leaf: Leaf[Declared]) -> Node:
    if isinstance(leaf, Abstention):
        answer = f"abstains: {words(leaf.reason)}"
        return Node(place, 2, words(leaf.name), leaf.when, answer, (), (), leaf.source)
    against = tuple(indicator.condition for indicator in leaf.against)
    return Node(
        place, 2, words(leaf.name), leaf.when, leaf.category, leaf.confirms, against, leaf.source
    )


def category_of(leaf: Leaf[Declared]) -> str | None:
    """The category that a leaf names, if it names one."""
    return leaf.category if isinstance(leaf, Confirmation) else None


def rules_tables(
    band: HealthyBand,
    healthy: int,
    simple: SimpleRulesSettings,
    improved: ImprovedRulesSettings,
) -> tuple[Table, ...]:
    """The simple rules, the nodes of the improved ones, and the signals of these."""
    return (
        _simple_table(band, healthy, simple),
        _tree_table(improved),
        _signals_table(band, healthy, improved),
    )


def _simple_table(band: HealthyBand, healthy: int, settings: SimpleRulesSettings) -> Table:
    limits = {"gradient_norm": settings.gradient_norm, "perplexity": settings.perplexity}

    def thresholds(rule: Rule) -> str:
        return _joined(
            _threshold_words(condition, band, settings.healthy_sds, limits)
            for condition in rule.conditions
        )

    numbered = list(enumerate(SIMPLE_RULES, start=1))
    return Table.of(
        "simple_rules",
        (
            Column("Rule", cell=lambda row: str(row[0])),
            Column("Name", align="left", width=0.12, cell=lambda row: words(row[1].name)),
            Column("Category", align="left", width=0.13, cell=lambda row: words(row[1].category)),
            Column(
                "Condition",
                align="left",
                width=0.31,
                cell=lambda row: " and ".join(map(in_words, row[1].conditions)),
            ),
            Column("Threshold", align="left", width=0.13, cell=lambda row: thresholds(row[1])),
            Column("Source", align="left", width=0.25, cell=lambda row: row[1].source),
        ),
        numbered,
        f"The {len(SIMPLE_RULES)} simple rules, in order.",
        (
            SIMPLE_NOTE.format(fallback=words(FALLBACK)),
            BAND_NOTE.format(healthy=healthy, sds=settings.healthy_sds),
            SIMPLE_HISTORY_NOTE,
        ),
    )


def _threshold_words(
    condition: Declared, band: HealthyBand, sds: float, limits: dict[str, float]
) -> str:
    value = threshold(condition, band, sds, limits)
    return ABSENT if value is None else f"{number(value)} ({origin(condition)})"


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(parts)


def _tree_table(settings: ImprovedRulesSettings) -> Table:
    rows = nodes()
    return Table.of(
        "improved_rules",
        (
            Column("Node", align="left", cell=lambda row: row.number),
            Column("Name", align="left", width=0.15, cell=lambda row: row.name),
            Column("Reached when", align="left", width=0.11, cell=lambda row: row.when_words),
            Column("Answer", align="left", width=0.11, cell=_answer),
            Column("Confirmed by", align="left", width=0.15, cell=lambda row: _short(row.confirms)),
            Column(
                "Contradicted by", align="left", width=0.13, cell=lambda row: _short(row.against)
            ),
            Column("Source", align="left", width=0.28, cell=lambda row: row.source),
        ),
        rows,
        f"The {len(rows)} nodes of the improved rules: a root, {len(TREE.refinements)} refinements "
        f"and {len(TREE.leaves)} leaves.",
        (TREE_NOTE.format(tau=settings.tau), TREE_HISTORY_NOTE),
    )


def _answer(node: Node) -> str:
    category = next((each for each in SHORT_LABELS if each == node.answer), None)
    return SHORT_LABELS[category] if category else node.answer


def _short(conditions: Iterable[Declared]) -> str:
    return ", ".join(map(short, conditions))


def _signals_table(band: HealthyBand, healthy: int, settings: ImprovedRulesSettings) -> Table:
    limits = {
        "catastrophic_perplexity": settings.catastrophic_perplexity,
        "gradient_norm": settings.gradient_norm,
    }
    signals = sorted(dict.fromkeys(TREE.conditions()), key=_place_of_signal)
    return Table.of(
        "improved_signals",
        (
            Column("Signal", align="left", width=0.2, cell=short),
            Column("What holds", align="left", width=0.5, cell=in_words),
            Column(
                "Threshold",
                align="left",
                width=0.25,
                cell=lambda each: _threshold_words(each, band, settings.healthy_sds, limits),
            ),
        ),
        signals,
        f"The {len(signals)} signals that the nodes of the improved rules ask for.",
        (BAND_NOTE.format(healthy=healthy, sds=settings.healthy_sds), TREE_HISTORY_NOTE),
    )


def _place_of_signal(condition: Declared) -> tuple[bool, str]:
    """Error text first, then by name."""
    return (not isinstance(condition, ErrorMatches), short(condition))
