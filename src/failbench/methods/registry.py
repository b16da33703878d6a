"""The methods that studies compare, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from failbench.errors import BadInputError
from failbench.methods import improved_tree, simple_rules
from failbench.methods.classifiers import (
    DecisionTreeSettings,
    RandomForestSettings,
    decision_tree,
    random_forest,
)
from failbench.methods.diagnosis import Method
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_rules import ImprovedRules, ImprovedRulesSettings
from failbench.methods.learned_rules import LearnedRulesSettings, learned_rules
from failbench.methods.simple_rules import SimpleRules, SimpleRulesSettings
from failbench.methods.symptom_baseline import SymptomBaselineSettings, symptom_baseline
from failbench.scenarios import Record


@dataclass(frozen=True)
class Context:
    """What a method may be built with besides its settings.

    Attributes
    ----------
    features
        Columns of the feature set in use.
    band
        Healthy band of successful runs, none of which is ever tested on.
    seed
        Seed of everything random in the method.
    """

    features: tuple[str, ...]
    band: HealthyBand
    seed: int


@dataclass(frozen=True)
class MethodDeclaration:
    """A method's settings (its section of params.yaml) and how to build it from them."""

    name: str
    settings: type[Record]
    build: Callable[[Any, Context], Method]


def _simple_rules(settings: SimpleRulesSettings, context: Context) -> Method:
    return SimpleRules(context.band, **settings.model_dump())


def _improved_rules(settings: ImprovedRulesSettings, context: Context) -> Method:
    return ImprovedRules(context.band, **settings.model_dump())


def _learned_rules(settings: LearnedRulesSettings, context: Context) -> Method:
    return learned_rules(settings, context.features, context.seed)


def _symptom_baseline(settings: SymptomBaselineSettings, context: Context) -> Method:
    return symptom_baseline(settings, context.seed)


def _decision_tree(settings: DecisionTreeSettings, context: Context) -> Method:
    return decision_tree(settings, context.features, context.seed)


def _random_forest(settings: RandomForestSettings, context: Context) -> Method:
    return random_forest(settings, context.features, context.seed)


METHODS: dict[str, MethodDeclaration] = {
    declaration.name: declaration
    for declaration in (
        MethodDeclaration("simple_rules", SimpleRulesSettings, _simple_rules),
        MethodDeclaration("improved_rules", ImprovedRulesSettings, _improved_rules),
        MethodDeclaration("learned_rules", LearnedRulesSettings, _learned_rules),
        MethodDeclaration("symptom_baseline", SymptomBaselineSettings, _symptom_baseline),
        MethodDeclaration("decision_tree", DecisionTreeSettings, _decision_tree),
        MethodDeclaration("random_forest", RandomForestSettings, _random_forest),
    )
}


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some method needs, sorted."""
    return tuple(sorted({*simple_rules.band_features(), *improved_tree.band_features()}))


def method_named(name: str) -> MethodDeclaration:
    """Look a method up.

    Raises
    ------
    BadInputError
        If there is no method of that name.
    """
    if name not in METHODS:
        raise BadInputError(
            "methods", "method", f"{name!r} is unknown.", f"Choose one of {', '.join(METHODS)}."
        )
    return METHODS[name]
