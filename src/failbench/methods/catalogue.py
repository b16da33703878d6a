"""The methods that studies compare, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from failbench.errors import BadInputError
from failbench.methods import improved_tree, simple_rules
from failbench.methods.boosting_machine import EbmSettings, ebm
from failbench.methods.classifiers import (
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
    decision_tree,
    lightgbm,
    logistic_regression,
    random_forest,
)
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.hybrid import Hybrid, HybridSettings, HybridTwoWay
from failbench.methods.improved_rules import ImprovedRules, ImprovedRulesSettings
from failbench.methods.learned_rules import LearnedRulesSettings, learned_rules
from failbench.methods.method import Method
from failbench.methods.simple_rules import SimpleRules, SimpleRulesSettings
from failbench.methods.simulated_human import SimulatedHuman, SimulatedHumanSettings
from failbench.methods.symptom_baseline import SymptomBaselineSettings, symptom_baseline
from failbench.records import Record


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
    answers
        True categories by ``run_id``, for simulations of people; empty for all that diagnose.
    """

    features: tuple[str, ...]
    band: HealthyBand
    seed: int
    answers: Mapping[str, str] = field(default_factory=dict)


class Sections(Record):
    """Settings of a method that is made of others: a field a section of params.yaml."""


class HybridSections(Sections):
    """What the three-way hybrid reads."""

    hybrid: HybridSettings
    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings
    simulated_human: SimulatedHumanSettings


class HybridTwoWaySections(Sections):
    """What the two-way hybrid reads; where it hands on is where the rules abstain."""

    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings


@dataclass(frozen=True)
class MethodDeclaration:
    """A method's settings and how to build it from them.

    Attributes
    ----------
    name
        Its name; but for a method that is made of others, also that of its section of params.yaml.
    settings
        The record of that section, or :class:`Sections` with the records of several.
    build
        From settings and context to the method, unfitted.
    simulation
        Whether it simulates people and so is handed the answers.
    """

    name: str
    settings: type[Record]
    build: Callable[[Any, Context], Method]
    simulation: bool = False

    @property
    def sections(self) -> dict[str, type[Record]]:
        """Sections of params.yaml that the settings are made of, each with its record."""
        if not issubclass(self.settings, Sections):
            return {self.name: self.settings}
        fields = self.settings.model_fields
        return {name: cast("type[Record]", one.annotation) for name, one in fields.items()}

    def assemble(self, sections: Mapping[str, Record]) -> Record:
        """The settings that ``build`` takes, from the records of :attr:`sections`."""
        if not issubclass(self.settings, Sections):
            return sections[self.name]
        return self.settings.model_validate(dict(sections))


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


def _logistic_regression(settings: LogisticRegressionSettings, context: Context) -> Method:
    return logistic_regression(settings, context.features, context.seed)


def _lightgbm(settings: LightgbmSettings, context: Context) -> Method:
    return lightgbm(settings, context.features, context.seed)


def _ebm(settings: EbmSettings, context: Context) -> Method:
    return ebm(settings, context.features, context.seed)


def _simulated_human(settings: SimulatedHumanSettings, context: Context) -> Method:
    return SimulatedHuman(context.answers, settings.levels, context.seed)


def _hybrid(settings: HybridSections, context: Context) -> Method:
    blind = replace(context, answers={})  # the answers are for the simulated human alone
    return Hybrid(
        _improved_rules(settings.improved_rules, blind),
        _random_forest(settings.random_forest, blind),
        _simulated_human(settings.simulated_human, context),
        **settings.hybrid.model_dump(),
    )


def _hybrid_two_way(settings: HybridTwoWaySections, context: Context) -> Method:
    return HybridTwoWay(
        _improved_rules(settings.improved_rules, context),
        _random_forest(settings.random_forest, context),
    )


METHODS: dict[str, MethodDeclaration] = {
    declaration.name: declaration
    for declaration in (
        MethodDeclaration("simple_rules", SimpleRulesSettings, _simple_rules),
        MethodDeclaration("improved_rules", ImprovedRulesSettings, _improved_rules),
        MethodDeclaration("learned_rules", LearnedRulesSettings, _learned_rules),
        MethodDeclaration("symptom_baseline", SymptomBaselineSettings, _symptom_baseline),
        MethodDeclaration("logistic_regression", LogisticRegressionSettings, _logistic_regression),
        MethodDeclaration("decision_tree", DecisionTreeSettings, _decision_tree),
        MethodDeclaration("random_forest", RandomForestSettings, _random_forest),
        MethodDeclaration("lightgbm", LightgbmSettings, _lightgbm),
        MethodDeclaration("ebm", EbmSettings, _ebm),
        MethodDeclaration(
            "simulated_human", SimulatedHumanSettings, _simulated_human, simulation=True
        ),
        MethodDeclaration("hybrid", HybridSections, _hybrid, simulation=True),
        MethodDeclaration("hybrid_two_way", HybridTwoWaySections, _hybrid_two_way),
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
