"""The simulated human (section 4.5): a reference that is handed the true category."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels, Probabilities
from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimulatedHumanSettings, SkillLevel
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.methods.declaration import Context, Method, MethodDeclaration, by_name


@dataclass(frozen=True)
class _Opinion:
    """The answer of one person to one run, and that person's accuracy."""

    category: Category
    accuracy: float


class SimulatedHuman(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Draws, by seed and ``run_id`` alone, a person right with the accuracy of their level."""

    def __init__(
        self, true_categories: Mapping[str, str], levels: Mapping[str, SkillLevel], seed: int = 0
    ) -> None:
        self.true_categories = true_categories
        self.levels = levels
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The answer of the person drawn for each run."""
        return np.array([opinion.category for opinion in self._opinions(X)], dtype=object)

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """The person's accuracy for the answer, the rest divided equally over the others."""
        probabilities = np.empty((len(X), len(CATEGORIES)))
        for row, opinion in zip(probabilities, self._opinions(X), strict=True):
            row[:] = (1 - opinion.accuracy) / (len(CATEGORIES) - 1)
            row[CATEGORIES.index(opinion.category)] = opinion.accuracy
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """Answers with the accuracy as confidence; a simulated human gives no evidence."""
        return tuple(Diagnosis(opinion.category, opinion.accuracy) for opinion in self._opinions(X))

    def _opinions(self, X: pd.DataFrame) -> list[_Opinion]:
        check_is_fitted(self)
        return [self._opinion(str(run_id)) for run_id in X.index]

    def _opinion(self, run_id: str) -> _Opinion:
        if run_id not in self.true_categories:
            remedy = "Give the category of every run."
            raise BadInputError("true_categories", run_id, "is not in the answer key.", remedy)
        digest = np.frombuffer(hashlib.sha256(run_id.encode()).digest(), dtype="<u4")
        rng = np.random.default_rng([self.seed, *digest.tolist()])
        levels = tuple(self.levels.values())
        level = levels[rng.choice(len(levels), p=[each.share for each in levels])]
        truth = cast("Category", self.true_categories[run_id])
        if rng.random() < level.accuracy:
            return _Opinion(truth, level.accuracy)
        others = [category for category in CATEGORIES if category != truth]
        return _Opinion(others[rng.integers(len(others))], level.accuracy)


def build_simulated_human(settings: SimulatedHumanSettings, context: Context) -> Method:
    """A simulated human, who receives the true categories."""
    return SimulatedHuman(context.true_categories, settings.levels, context.seed)


DECLARATIONS = by_name(
    MethodDeclaration(
        "simulated_human", SimulatedHumanSettings, build_simulated_human, simulation=True
    )
)
