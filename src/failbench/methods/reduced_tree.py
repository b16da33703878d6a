"""The improved rules' tree without the conditions on signals that are not available."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from failbench.base.vocabulary import ERROR_TEXT_SIGNAL
from failbench.methods.rule_tree import Abstention, Confirmation, Leaf, Refinement, RuleTree
from failbench.methods.rules import Declared, ErrorMatches


def signal_of(condition: Declared) -> str:
    """The signal of a condition: a feature, or ``error_text``."""
    return ERROR_TEXT_SIGNAL if isinstance(condition, ErrorMatches) else condition.feature


def reduced_tree(tree: RuleTree[Declared], signals: Collection[str]) -> RuleTree[Declared]:
    """The same tree over some signals only.

    Conditions on other signals are removed. A refinement or leaf all of whose leading conditions
    are removed is removed with them, since nothing decides when it applies. A leaf that keeps some
    of its confirming signals needs only these, and one that keeps none abstains as ``missing``.
    """

    def reduce(conditions: Sequence[Declared]) -> tuple[Declared, ...]:
        return tuple(condition for condition in conditions if signal_of(condition) in signals)

    def reachable(when: tuple[Declared, ...]) -> bool:
        return not when or bool(reduce(when))

    def reduce_leaf(leaf: Leaf[Declared]) -> Leaf[Declared]:
        if isinstance(leaf, Abstention):
            return Abstention(leaf.name, reduce(leaf.when), leaf.reason, leaf.source)
        confirms = reduce(leaf.confirms)
        if not confirms:
            return Abstention(leaf.name, reduce(leaf.when), "missing", leaf.source)
        against = tuple(
            indicator for indicator in leaf.against if signal_of(indicator.condition) in signals
        )
        return Confirmation(
            leaf.name, reduce(leaf.when), leaf.category, confirms, against, leaf.source
        )

    refinements = tuple(
        Refinement(
            node.name,
            reduce(node.when),
            tuple(reduce_leaf(leaf) for leaf in node.leaves if reachable(leaf.when)),
            node.source,
        )
        for node in tree.refinements
        if reachable(node.when)
    )
    return RuleTree(tree.name, refinements, tree.source)
