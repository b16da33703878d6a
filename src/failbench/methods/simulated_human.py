"""The simulated human (the paper's section 4.5): an anchor, and no diagnosis.

People of three skill levels are right as often as their level is. The simulation reads no telemetry
and learns nothing; who is right follows from the true category, which it is handed on purpose as an
answer key. No method that diagnoses receives one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
import pandas as pd
from pydantic import Field, field_validator
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.arrays import Labels, Probabilities
from failbench.errors import BadInputError
from failbench.methods.declaration import Context, MethodDeclaration, declared
from failbench.methods.method import Method
from failbench.records import Record
from failbench.verdicts import Diagnosis
from failbench.vocabulary import CATEGORIES, Category


class SkillLevel(Record):
    """How many people are of a level, and how often they are right.

    At one in five or less a person's own answer would not be the likeliest.
    """

    share: float = Field(gt=0, le=1)
    accuracy: float = Field(gt=1 / len(CATEGORIES), le=1)


class SimulatedHumanSettings(Record):
    """The population; the section ``simulated_human`` of params.yaml."""

    levels: dict[str, SkillLevel] = Field(min_length=1)

    @field_validator("levels")
    @classmethod
    def _is_a_whole_population(cls, levels: dict[str, SkillLevel]) -> dict[str, SkillLevel]:
        if not math.isclose(sum(level.share for level in levels.values()), 1):
            raise ValueError("the shares of the levels must add up to 1")
        return levels


@dataclass(frozen=True)
class _Opinion:
    """What one person says of one run, and how often that person is right."""

    category: Category
    accuracy: float


class SimulatedHuman(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Draws a person for each run, who is right as often as the person's level is.

    Who is wrong names one of the other categories, all alike. A run's draws come from the seed and
    its ``run_id`` alone, so that neither the order nor the company of runs matters.

    Parameters
    ----------
    answers
        True category of each run by ``run_id``: the key of the simulation.
    levels
        Skill levels of the population.
    seed
        Seed of all draws.
    """

    def __init__(
        self, answers: Mapping[str, str], levels: Mapping[str, SkillLevel], seed: int = 0
    ) -> None:
        self.answers = answers
        self.levels = levels
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category that the person drawn for each run names."""
        return np.array([one.category for one in self._opinions(X)], dtype=object)

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """What each person can claim: the own skill for the answer, the rest spread evenly."""
        probabilities = np.empty((len(X), len(CATEGORIES)))
        for row, one in zip(probabilities, self._opinions(X), strict=True):
            row[:] = (1 - one.accuracy) / (len(CATEGORIES) - 1)
            row[CATEGORIES.index(one.category)] = one.accuracy
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """Answers with the skill as confidence; a simulated person cites nothing."""
        return tuple(Diagnosis(one.category, one.accuracy) for one in self._opinions(X))

    def _opinions(self, X: pd.DataFrame) -> list[_Opinion]:
        check_is_fitted(self)
        return [self._opinion(str(run_id)) for run_id in X.index]

    def _opinion(self, run_id: str) -> _Opinion:
        if run_id not in self.answers:
            raise BadInputError(
                "answers", run_id, "is not in the answer key.", "Give the category of every run."
            )
        digest = np.frombuffer(hashlib.sha256(run_id.encode()).digest(), dtype="<u4")
        rng = np.random.default_rng([self.seed, *digest.tolist()])
        levels = tuple(self.levels.values())
        level = levels[rng.choice(len(levels), p=[one.share for one in levels])]
        truth = cast("Category", self.answers[run_id])
        if rng.random() < level.accuracy:
            return _Opinion(truth, level.accuracy)
        others = [category for category in CATEGORIES if category != truth]
        return _Opinion(others[rng.integers(len(others))], level.accuracy)


def build_simulated_human(settings: SimulatedHumanSettings, context: Context) -> Method:
    """A simulated person, who is handed the true categories."""
    return SimulatedHuman(context.answers, settings.levels, context.seed)


DECLARATIONS = declared(
    MethodDeclaration(
        "simulated_human", SimulatedHumanSettings, build_simulated_human, simulation=True
    )
)
