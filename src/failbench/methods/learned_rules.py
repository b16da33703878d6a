"""Learned rules: a small decision tree, written as a list of rules."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from failbench.base.method_settings import LearnedRulesSettings
from failbench.base.predictions import most_probable
from failbench.base.verdicts import SIGNS, Side
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.methods.declaration import MethodDeclaration, by_name, from_features
from failbench.methods.evidence import explain_tree, leaf_conditions
from failbench.methods.tuned_classifier import TunedClassifier, tuned


@dataclass(frozen=True)
class LearnedRule:
    """A leaf of the tree as a rule: it names the category where all tests hold."""

    tests: tuple[tuple[str, Side, float], ...]
    category: Category
    share: float
    runs: int

    def __str__(self) -> str:
        tests = [f"{name} {SIGNS[side]} {edge:.4g}" for name, side, edge in self.tests]
        answer = f"{self.category} ({self.share:.2f}, n={self.runs})"
        return f"if {' and '.join(tests) or 'true'} then {answer}"


def learned_rules(
    settings: LearnedRulesSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A CART tree of limited depth and size (the paper's section 4.3), tuned over both sizes."""
    tree = DecisionTreeClassifier(max_depth=settings.max_depth, random_state=seed)
    grid = {
        "max_leaf_nodes": settings.max_leaf_nodes,
        "min_samples_leaf": settings.min_samples_leaf,
    }
    return tuned(features, tree, grid, settings.inner_folds, seed, explain_tree)


def rule_list(method: TunedClassifier) -> tuple[LearnedRule, ...]:
    """The leaves of fitted rules, left to right, over imputed features; one holds for each run."""
    check_is_fitted(method)
    tree = method.pipeline_["classify"]
    names = method.pipeline_["impute"].get_feature_names_out()
    order = [CATEGORIES.index(category) for category in tree.classes_]
    rules = []
    for leaf, path in leaf_conditions(tree).items():
        shares = np.zeros(len(CATEGORIES))
        shares[order] = tree.tree_.value[leaf, 0]
        category = most_probable(shares[None])[0]  # as TunedClassifier.predict
        tests = tuple(
            (str(names[condition.column]), condition.side, condition.threshold)
            for condition in path
        )
        runs = int(tree.tree_.n_node_samples[leaf])
        share = float(shares[CATEGORIES.index(category)])
        rules.append(LearnedRule(tests, category, share, runs))
    return tuple(rules)


def top_signals(method: TunedClassifier) -> tuple[str, ...]:
    """Features tested at the root and its children (compare section 4.3), each once."""
    check_is_fitted(method)
    nodes = method.pipeline_["classify"].tree_
    names = method.pipeline_["impute"].get_feature_names_out()
    top = [0, int(nodes.children_left[0]), int(nodes.children_right[0])]
    tested = [int(nodes.feature[node]) for node in top if node >= 0]
    return tuple(dict.fromkeys(str(names[column]) for column in tested if column >= 0))


DECLARATIONS = by_name(
    MethodDeclaration("learned_rules", LearnedRulesSettings, partial(from_features, learned_rules))
)
