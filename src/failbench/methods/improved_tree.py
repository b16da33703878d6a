"""The tree of the improved rules, as data in three levels, and how runs go through it."""

# 47 nodes: triage by the kind of error, refinement by measurements, and leaves that confirm a
# category or abstain. Limits are the paper's or from healthy runs, none from a failing one. The
# tree was first committed a day after the first failing runs: the history does not show it blind to
# them.

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast, get_args

import numpy as np
import numpy.typing as npt

from failbench.base.vocabulary import CATEGORIES, ERROR_TEXT_SIGNAL, Category, Reason
from failbench.methods import rules, simple_rules


@dataclass(frozen=True)
class Leaf:
    """Names a category if all its signals hold and none contradicts it; else abstains."""

    name: str
    when: rules.Conditions
    category: Category | None
    reason: Reason | None
    confirms: rules.Conditions
    against: rules.Conditions
    source: str

    @property
    def critical(self) -> list[str]:
        """Features without which the leaf cannot be confirmed."""
        return sorted(rules.features_of(self.confirms))


@dataclass(frozen=True)
class Refinement:
    """A node of the second level, which splits the runs of one kind of error by measurements."""

    name: str
    when: rules.Conditions
    leaves: tuple[Leaf, ...]
    source: str


@dataclass(frozen=True)
class RuleTree:
    """The root and its subtrees; the first child that holds is taken, the last always does."""

    name: str
    refinements: tuple[Refinement, ...]
    source: str

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, in order."""
        return tuple(leaf for node in self.refinements for leaf in node.leaves)

    @property
    def nodes(self) -> tuple[RuleTree | Refinement | Leaf, ...]:
        """All nodes: the root, the refinements, the leaves."""
        return (self, *self.refinements, *self.leaves)

    def conditions(self) -> Iterator[rules.Declared]:
        """Every condition in the tree, repeated where it is used several times."""
        for node in self.refinements:
            yield from node.when
        for leaf in self.leaves:
            yield from (*leaf.when, *leaf.confirms, *leaf.against)

    def with_conditions(self, change: Callable[[rules.Conditions], rules.Conditions]) -> RuleTree:
        """The tree with other conditions; leaves that lose all signals abstain as ``missing``."""

        def of_leaf(leaf: Leaf) -> Leaf:
            when, confirms = change(leaf.when), change(leaf.confirms)
            if leaf.confirms and not confirms:
                return Leaf(leaf.name, when, None, "missing", (), (), leaf.source)
            return replace(leaf, when=when, confirms=confirms, against=change(leaf.against))

        refinements = tuple(
            replace(node, when=change(node.when), leaves=tuple(map(of_leaf, node.leaves)))
            for node in self.refinements
        )
        return replace(self, refinements=refinements)


ANY_ERROR: Final = rules.ErrorMatches(r"^[^:]+")  # the words that match are the type of the error

_ROWS: Final = rules.read_table("improved_signals")

SIGNALS: Final[dict[str, rules.Declared]] = {  # the signals that several nodes share, by name
    "any_error": ANY_ERROR,
    **{
        row["name"]: rules.on_feature(row["features"])
        if row["features"]
        else rules.ErrorMatches(
            "|".join(simple_rules.WORDINGS[name] for name in rules.parts(row["wordings"]))
        )
        for row in _ROWS
    },
}

POINTS_TO: Final = {SIGNALS[row["name"]]: row["points_to"] for row in _ROWS if row["points_to"]}
"""The category that a signal points to on its own: against a leaf of another, it contradicts it."""


def _conditions(cell: str) -> rules.Conditions:
    return tuple(
        SIGNALS[part] if part in SIGNALS else rules.on_feature(part) for part in rules.parts(cell)
    )


def _leaf(row: dict[str, str]) -> Leaf:
    answer = row["answer"]
    return Leaf(
        row["leaf"],
        _conditions(row["when"]),
        answer if answer in CATEGORIES else None,
        cast("Reason", answer) if answer in get_args(Reason) else None,
        _conditions(row["confirms"]),
        _conditions(row["against"]),
        row["source"],
    )


def _read_tree() -> RuleTree:
    rows = rules.read_table("improved_tree")
    refinements = tuple(
        Refinement(
            node["refinement"],
            _conditions(node["when"]),
            tuple(
                _leaf(row)
                for row in rows
                if row["leaf"] and row["refinement"] == node["refinement"]
            ),
            node["source"],
        )
        for node in rows
        if not node["leaf"]
    )
    source = "the paper's section 4.2: error-type triage at the top level"
    return RuleTree("error_type", refinements, source)


TREE: Final = _read_tree()  # one root, 12 refinements (seven of runs with error text), 34 leaves


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some node needs."""
    return rules.features_of_band(TREE.conditions())


def all_band_features() -> tuple[str, ...]:
    """Features whose healthy band some rule needs, simple or improved, sorted."""
    return tuple(sorted({*simple_rules.band_features(), *band_features()}))


def signal_of(condition: rules.Declared) -> str:
    """The signal of a condition: a feature, or ``error_text``."""
    return ERROR_TEXT_SIGNAL if isinstance(condition, rules.ErrorMatches) else condition.feature


def reduced_tree(tree: RuleTree, signals: Collection[str]) -> RuleTree:
    """The tree over some signals; nodes that lose all leading conditions are removed."""

    def kept(conditions: rules.Conditions) -> rules.Conditions:
        return tuple(condition for condition in conditions if signal_of(condition) in signals)

    def applies(child: Refinement | Leaf) -> bool:
        return not child.when or bool(kept(child.when))

    refinements = tuple(
        replace(node, leaves=tuple(filter(applies, node.leaves)))
        for node in tree.refinements
        if applies(node)
    )
    return replace(tree, refinements=refinements).with_conditions(kept)


def route(tree: RuleTree, evaluated: rules.EvaluatedConditions) -> npt.NDArray[np.intp]:
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
    tree: RuleTree, leaf_position: int, evaluated: rules.EvaluatedConditions, run: int
) -> list[rules.Declared]:
    """What verifies that a run reaches a leaf and its answer, no condition twice."""
    # One failing condition of each child not taken; all of each child that was; at the leaf, the
    # confirming signals and those that would contradict it.

    def failing(children: Sequence[Refinement | Leaf]) -> list[rules.Declared]:
        return [
            next(condition for condition in child.when if not evaluated.holds(condition)[run])
            for child in children
        ]

    inner, position = leaf_position, 0
    while inner >= len(tree.refinements[position].leaves):
        inner -= len(tree.refinements[position].leaves)
        position += 1
    node = tree.refinements[position]
    leaf = node.leaves[inner]
    checked = [
        *failing(tree.refinements[:position]),
        *node.when,
        *failing(node.leaves[:inner]),
        *leaf.when,
        *leaf.confirms,
        *leaf.against,
    ]
    return list(dict.fromkeys(checked))


def _first_that_holds(
    children: Sequence[Refinement | Leaf], evaluated: rules.EvaluatedConditions
) -> npt.NDArray[np.intp]:
    holds = [evaluated.all_hold(child.when) for child in children]  # [n_children, n_runs]
    return np.asarray(np.argmax(holds, axis=0))
