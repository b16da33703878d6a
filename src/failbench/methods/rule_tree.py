"""A tree of rules in three levels: triage, refinement, and leaves that confirm or abstain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from failbench.methods.rules import Condition, Declared, ErrorMatches, Readings
from failbench.vocabulary import Category, Reason

C = TypeVar("C", bound=Declared)
"""``Declared`` in a declaration, ``Condition`` once every number is filled in."""


@dataclass(frozen=True)
class Indicator(Generic[C]):
    """A signal that points to a category on its own."""

    category: Category
    condition: C


@dataclass(frozen=True)
class Confirmation(Generic[C]):
    """A leaf that names a category if all its signals hold and none speaks against it.

    Attributes
    ----------
    when
        Conditions that, together, lead here; none leads every run here.
    category
        What the leaf names.
    confirms
        The signals S(x) of the paper's equation 3.
    against
        Signals of categories that the leaf is incompatible with.
    source
        Where the reasoning comes from.
    """

    name: str
    when: tuple[C, ...]
    category: Category
    confirms: tuple[C, ...]
    against: tuple[Indicator[C], ...]
    source: str

    @property
    def critical(self) -> list[str]:
        """Metrics without which the leaf cannot be confirmed."""
        measured = (one for one in self.confirms if not isinstance(one, ErrorMatches))
        return sorted({one.feature for one in measured})


@dataclass(frozen=True)
class Abstention(Generic[C]):
    """A leaf that names nothing, for a reason that is known in advance."""

    name: str
    when: tuple[C, ...]
    reason: Reason
    source: str


Leaf = Confirmation[C] | Abstention[C]


@dataclass(frozen=True)
class Refinement(Generic[C]):
    """A node of the second level: measurements part the runs that the triage sends here."""

    name: str
    when: tuple[C, ...]
    leaves: tuple[Leaf[C], ...]
    source: str


@dataclass(frozen=True)
class RuleTree(Generic[C]):
    """The root, which sorts runs by the kind of their error, and all below it.

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
        """Every condition anywhere in the tree; one that is used twice comes twice."""
        for node in self.refinements:
            yield from node.when
        for leaf in self.leaves:
            yield from leaf.when
            if isinstance(leaf, Confirmation):
                yield from leaf.confirms
                yield from (one.condition for one in leaf.against)


def resolve_tree(
    tree: RuleTree[Declared], resolved: Callable[[Declared], Condition]
) -> RuleTree[Condition]:
    """The same tree with the number of every condition filled in."""

    def each(conditions: tuple[Declared, ...]) -> tuple[Condition, ...]:
        return tuple(resolved(one) for one in conditions)

    def of_leaf(leaf: Leaf[Declared]) -> Leaf[Condition]:
        if isinstance(leaf, Abstention):
            return Abstention(leaf.name, each(leaf.when), leaf.reason, leaf.source)
        against = tuple(Indicator(one.category, resolved(one.condition)) for one in leaf.against)
        when, confirms = each(leaf.when), each(leaf.confirms)
        return Confirmation(leaf.name, when, leaf.category, confirms, against, leaf.source)

    refinements = tuple(
        Refinement(node.name, each(node.when), tuple(map(of_leaf, node.leaves)), node.source)
        for node in tree.refinements
    )
    return RuleTree(tree.name, refinements, tree.source)


def route(tree: RuleTree[Condition], readings: Readings) -> npt.NDArray[np.intp]:
    """The position in ``tree.leaves`` that each run reaches: shape ``[n_runs]``."""
    taken = _first_that_holds(tree.refinements, readings)
    reached = np.zeros(len(readings.runs), dtype=np.intp)
    before = 0
    for position, node in enumerate(tree.refinements):
        here = taken == position
        reached[here] = before + _first_that_holds(node.leaves, readings)[here]
        before += len(node.leaves)
    return reached


def conditions_on_path(
    tree: RuleTree[Condition], leaf_position: int, readings: Readings, run: int
) -> list[Condition]:
    """What a reader checks to see that a run reaches a leaf and what the leaf makes of it.

    Of each child that was passed over, one condition that fails; of each child that was taken, all;
    at the leaf, the confirming signals and those that would speak against it. A condition that
    serves twice is checked once.
    """
    checked: list[Condition] = []
    before = 0
    for node in tree.refinements:
        if leaf_position < before + len(node.leaves):
            break
        checked.append(_failing(node.when, readings, run))
        before += len(node.leaves)
    checked.extend(node.when)
    inner = leaf_position - before
    checked.extend(_failing(leaf.when, readings, run) for leaf in node.leaves[:inner])
    leaf = node.leaves[inner]
    checked.extend(leaf.when)
    if isinstance(leaf, Confirmation):
        checked.extend(leaf.confirms)
        checked.extend(one.condition for one in leaf.against)
    return list(dict.fromkeys(checked))


def _first_that_holds(
    children: Sequence[Refinement[Condition] | Leaf[Condition]], readings: Readings
) -> npt.NDArray[np.intp]:
    holds = [readings.all_hold(child.when) for child in children]  # [n_children, n_runs]
    return np.asarray(np.argmax(holds, axis=0))


def _failing(when: tuple[Condition, ...], readings: Readings, run: int) -> Condition:
    return next(one for one in when if not readings.holds(one)[run])
