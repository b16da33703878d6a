"""The improved rules' tree without the conditions on signals that nobody measured."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from failbench.methods.rule_tree import Abstention, Confirmation, Leaf, Refinement, RuleTree
from failbench.methods.rules import Declared, ErrorMatches

ERROR_TEXT = "error_text"
"""The signal that patterns look at; all others are features."""


def signal_of(condition: Declared) -> str:
    """What a condition looks at: a feature, or ``error_text``."""
    return ERROR_TEXT if isinstance(condition, ErrorMatches) else condition.feature


def reduced_tree(tree: RuleTree[Declared], signals: Collection[str]) -> RuleTree[Declared]:
    """The same tree for a reader who sees some signals and asks for no others.

    Conditions on other signals are taken out. A refinement or leaf that nothing but such conditions
    led to is taken out with them, since nobody can tell when it is meant. A leaf that keeps a part
    of its confirming signals is content with that part, and one that keeps none abstains as
    ``missing``.

    Parameters
    ----------
    tree
        The whole tree.
    signals
        Features, and ``error_text``, that are kept.
    """

    def kept(conditions: Sequence[Declared]) -> tuple[Declared, ...]:
        return tuple(one for one in conditions if signal_of(one) in signals)

    def reachable(when: tuple[Declared, ...]) -> bool:
        return not when or bool(kept(when))

    def of_leaf(leaf: Leaf[Declared]) -> Leaf[Declared]:
        if isinstance(leaf, Abstention):
            return Abstention(leaf.name, kept(leaf.when), leaf.reason, leaf.source)
        confirms = kept(leaf.confirms)
        if not confirms:
            return Abstention(leaf.name, kept(leaf.when), "missing", leaf.source)
        against = tuple(one for one in leaf.against if signal_of(one.condition) in signals)
        return Confirmation(
            leaf.name, kept(leaf.when), leaf.category, confirms, against, leaf.source
        )

    refinements = tuple(
        Refinement(
            node.name,
            kept(node.when),
            tuple(of_leaf(leaf) for leaf in node.leaves if reachable(leaf.when)),
            node.source,
        )
        for node in tree.refinements
        if reachable(node.when)
    )
    return RuleTree(tree.name, refinements, tree.source)
