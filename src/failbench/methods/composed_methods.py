"""Composed methods: the hybrids, declared by the sections of their members."""

from __future__ import annotations

from dataclasses import replace

from failbench.base.method_settings import (
    HybridSettings,
    ImprovedRulesSettings,
    RandomForestSettings,
    SimulatedHumanSettings,
)
from failbench.methods.classifiers import build_random_forest
from failbench.methods.declaration import Context, MethodDeclaration, Sections, by_name
from failbench.methods.hybrid import Hybrid, HybridTwoWay
from failbench.methods.improved_rules import build_improved_rules
from failbench.methods.method import Method
from failbench.methods.simulated_human import build_simulated_human


class HybridSections(Sections):
    """Sections that the three-way hybrid is built from."""

    hybrid: HybridSettings
    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings
    simulated_human: SimulatedHumanSettings


class HybridTwoWaySections(Sections):
    """Sections that the two-way hybrid is built from; it defers where the rules abstain."""

    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings


def _hybrid(settings: HybridSections, context: Context) -> Method:
    without_truth = replace(context, true_categories={})  # for the simulated human alone
    return Hybrid(
        build_improved_rules(settings.improved_rules, without_truth),
        build_random_forest(settings.random_forest, without_truth),
        build_simulated_human(settings.simulated_human, context),
        **settings.hybrid.model_dump(),
    )


def _hybrid_two_way(settings: HybridTwoWaySections, context: Context) -> Method:
    return HybridTwoWay(
        build_improved_rules(settings.improved_rules, context),
        build_random_forest(settings.random_forest, context),
    )


DECLARATIONS = by_name(
    MethodDeclaration("hybrid", HybridSections, _hybrid, simulation=True),
    MethodDeclaration("hybrid_two_way", HybridTwoWaySections, _hybrid_two_way),
)
