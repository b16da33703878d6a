"""Simple rules: an ordered list of 23 heuristics, the first match decides."""

# The wording is that of libraries' documentation and source. No rule was added, dropped or moved
# after seeing a recorded failure, and no threshold comes from one.

from dataclasses import dataclass, replace
from typing import Final, Self, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels, Probabilities
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.methods import rules
from failbench.methods.declaration import Context, Method, MethodDeclaration, by_name
from failbench.methods.healthy import HealthyBand


@dataclass(frozen=True)
class Rule:
    """Names a category where all conditions hold."""

    name: str
    category: Category
    conditions: rules.Conditions
    source: str


SIMPLE_RULES: Final = tuple(
    Rule(
        row["name"],
        cast("Category", row["category"]),
        (rules.ErrorMatches(row["error_text"]),)
        if row["error_text"]
        else tuple(map(rules.on_feature, rules.parts(row["features"]))),
        row["source"],
    )
    for row in rules.read_table("simple_rules")
)

WORDINGS: Final = {  # what the rules that read error text look for in it
    rule.name: first.pattern
    for rule in SIMPLE_RULES
    if isinstance(first := rule.conditions[0], rules.ErrorMatches)
}

FALLBACK: Category = "optimization"  # section 4.1: 'the most frequent failure mode'


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some rule needs."""
    return rules.features_of_band(
        condition for rule in SIMPLE_RULES for condition in rule.conditions
    )


class SimpleRules(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The first of 23 rules that matches, else optimization; probability one (section 4.1)."""

    def __init__(
        self,
        band: HealthyBand,
        gradient_norm: float = 1000.0,
        perplexity: float = 10_000.0,
        healthy_sds: float = 3.0,
    ) -> None:
        self.band = band
        self.gradient_norm = gradient_norm
        self.perplexity = perplexity
        self.healthy_sds = healthy_sds

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:  # noqa: ARG002
        """Fill in the thresholds; the labelled runs are not used."""
        limits = {"gradient_norm": self.gradient_norm, "perplexity": self.perplexity}
        self.rules_ = tuple(
            replace(
                rule, conditions=rules.resolve(rule.conditions, self.band, self.healthy_sds, limits)
            )
            for rule in SIMPLE_RULES
        )
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of the first rule that holds, run by run."""
        categories = np.array([rule.category for rule in SIMPLE_RULES] + [FALLBACK], dtype=object)
        answers: Labels = categories[self._first_match(rules.EvaluatedConditions(X))]
        return answers

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """One for the category of the first rule that holds, zero for the others."""
        answers = self.predict(X)
        chosen = answers[:, None] == self.classes_[None, :]
        return np.asarray(chosen, dtype=np.float64)

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The categories with the signals of the rule, counting one of each earlier rule."""
        evaluated = rules.EvaluatedConditions(X)
        diagnoses = []
        for position, passed in enumerate(self._first_match(evaluated).tolist()):
            if passed == len(self.rules_):
                diagnoses.append(Diagnosis(FALLBACK, 1.0, conditions=passed))
                continue
            rule = self.rules_[passed]
            evidence = tuple(evaluated.evidence(each)[position] for each in rule.conditions)
            diagnoses.append(Diagnosis(rule.category, 1.0, evidence, passed + len(evidence)))
        return tuple(diagnoses)

    def _first_match(self, evaluated: rules.EvaluatedConditions) -> npt.NDArray[np.intp]:
        check_is_fitted(self)
        always = np.ones(len(evaluated.runs), dtype=bool)  # the fallback holds for every run
        holds = [evaluated.all_hold(rule.conditions) for rule in self.rules_]
        return np.asarray(np.argmax([*holds, always], axis=0))


def build_simple_rules(settings: SimpleRulesSettings, context: Context) -> Method:
    """The simple rules, their thresholds taken from the healthy band."""
    return SimpleRules(context.band, **settings.model_dump())


DECLARATIONS = by_name(MethodDeclaration("simple_rules", SimpleRulesSettings, build_simple_rules))
