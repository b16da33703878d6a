"""A tree of rules in three levels: triage, refinement, and leaves that confirm or abstain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from failbench.base.vocabulary import Category, Reason
from failbench.methods.rules import Condition, Declared, ErrorMatches, EvaluatedConditions

C = TypeVar("C", bound=Declared)
"""``Declared`` in a declaration, ``Condition`` once every threshold is filled in."""


@dataclass(frozen=True)
class Indicator(Generic[C]):
    """A signal that points to a category on its own."""

    category: Category
    condition: C


@dataclass(frozen=True)
class Confirmation(Generic[C]):
    """A leaf that names a category if all its signals hold and none contradicts it."""

    name: str
    when: tuple[C, ...]
    category: Category
    confirms: tuple[C, ...]
    against: tuple[Indicator[C], ...]
    source: str

    @property
    def critical(self) -> list[str]:
        """Features without which the leaf cannot be confirmed."""
        on_features = (signal for signal in self.confirms if not isinstance(signal, ErrorMatches))
        return sorted({signal.feature for signal in on_features})


@dataclass(frozen=True)
class Abstention(Generic[C]):
    """A leaf that always abstains, for a fixed reason."""

    name: str
    when: tuple[C, ...]
    reason: Reason
    source: str


Leaf = Confirmation[C] | Abstention[C]


@dataclass(frozen=True)
class Refinement(Generic[C]):
    """A node of the second level, which splits the runs of one kind of error by measurements."""

    name: str
    when: tuple[C, ...]
    leaves: tuple[Leaf[C], ...]
    source: str


@dataclass(frozen=True)
class RuleTree(Generic[C]):
    """The root, which sorts runs by the kind of their error, and its subtrees.

    At the root and at each refinement the first child whose conditions all hold is taken; the last
    child has no conditions, so that every run reaches one leaf.
    """

    name: str
    refinements: tuple[Refinement[C], ...]
    source: str

    @property
    def leaves(self) -> tuple[Leaf[C], ...]:
        """All leaves, in order."""
        return tuple(leaf for node in self.refinements for leaf in node.leaves)

    @property
    def nodes(self) -> tuple[RuleTree[C] | Refinement[C] | Leaf[C], ...]:
        """All nodes: the root, the refinements, the leaves."""
        return (self, *self.refinements, *self.leaves)

    def conditions(self) -> Iterator[C]:
        """Every condition in the tree, repeated where it is used several times."""
        for node in self.refinements:
            yield from node.when
        for leaf in self.leaves:
            yield from leaf.when
            if isinstance(leaf, Confirmation):
                yield from leaf.confirms
                yield from (indicator.condition for indicator in leaf.against)


def resolve_tree(
    tree: RuleTree[Declared], resolve: Callable[[Declared], Condition]
) -> RuleTree[Condition]:
    """The same tree with the threshold of every condition filled in."""

    def resolve_all(conditions: tuple[Declared, ...]) -> tuple[Condition, ...]:
        return tuple(resolve(condition) for condition in conditions)

    def resolve_leaf(leaf: Leaf[Declared]) -> Leaf[Condition]:
        if isinstance(leaf, Abstention):
            return Abstention(leaf.name, resolve_all(leaf.when), leaf.reason, leaf.source)
        against = tuple(
            Indicator(indicator.category, resolve(indicator.condition))
            for indicator in leaf.against
        )
        when, confirms = resolve_all(leaf.when), resolve_all(leaf.confirms)
        return Confirmation(leaf.name, when, leaf.category, confirms, against, leaf.source)

    refinements = tuple(
        Refinement(
            node.name, resolve_all(node.when), tuple(map(resolve_leaf, node.leaves)), node.source
        )
        for node in tree.refinements
    )
    return RuleTree(tree.name, refinements, tree.source)


def route(tree: RuleTree[Condition], evaluated: EvaluatedConditions) -> npt.NDArray[np.intp]:
    """The position in ``tree.leaves`` of the leaf that each run reaches: shape ``[n_runs]``."""
    taken = _first_that_holds(tree.refinements, evaluated)
    reached = np.zeros(len(evaluated.runs), dtype=np.intp)
    before = 0
    for position, node in enumerate(tree.refinements):
        at_node = taken == position
        reached[at_node] = before + _first_that_holds(node.leaves, evaluated)[at_node]
        before += len(node.leaves)
    return reached


def conditions_on_path(
    tree: RuleTree[Condition], leaf_position: int, evaluated: EvaluatedConditions, run: int
) -> list[Condition]:
    """The conditions to check to verify that a run reaches a leaf, and the leaf's answer.

    One failing condition of each child that was not taken; all conditions of each child that was;
    at the leaf, the confirming signals and those that would contradict it. A condition that occurs
    twice is checked once.
    """
    checked: list[Condition] = []
    before = 0
    for node in tree.refinements:
        if leaf_position < before + len(node.leaves):
            break
        checked.append(_failing(node.when, evaluated, run))
        before += len(node.leaves)
    checked.extend(node.when)
    inner = leaf_position - before
    checked.extend(_failing(leaf.when, evaluated, run) for leaf in node.leaves[:inner])
    leaf = node.leaves[inner]
    checked.extend(leaf.when)
    if isinstance(leaf, Confirmation):
        checked.extend(leaf.confirms)
        checked.extend(indicator.condition for indicator in leaf.against)
    return list(dict.fromkeys(checked))


def _first_that_holds(
    children: Sequence[Refinement[Condition] | Leaf[Condition]], evaluated: EvaluatedConditions
) -> npt.NDArray[np.intp]:
    holds = [evaluated.all_hold(child.when) for child in children]  # [n_children, n_runs]
    return np.asarray(np.argmax(holds, axis=0))


def _failing(when: tuple[Condition, ...], evaluated: EvaluatedConditions, run: int) -> Condition:
    return next(condition for condition in when if not evaluated.holds(condition)[run])
