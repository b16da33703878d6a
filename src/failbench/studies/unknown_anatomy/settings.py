"""Settings: which methods are asked of unknown scenarios, and how feature sets are compared."""

from __future__ import annotations

from pydantic import Field

from failbench.methods.classifiers import RandomForestSettings
from failbench.statistics.intervals import IntervalSettings
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.unknown_anatomy.feature_sets import ADDED, BASE

UNKNOWN = "unknown"
"""The category of scenarios whose cause nobody can tell."""


class UnknownAnatomySettings(IntervalSettings):
    """What is looked at; the section ``unknown_anatomy`` of params.yaml."""

    left_out: tuple[str, ...]
    neighbours: int = Field(ge=1)
    forest: RandomForestSettings
    repeats: int = Field(ge=1)
    practical_equivalence: float = Field(gt=0, lt=1)
    equivalence_margin: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)

    @property
    def comparison(self) -> SignificanceSettings:
        """How feature sets are compared: each larger one with the paper's."""
        return SignificanceSettings(
            feature_set="measured",
            contrasts=tuple((name, BASE) for name in ADDED),
            resamples=self.resamples,
            confidence=self.confidence,
            practical_equivalence=self.practical_equivalence,
            equivalence_margin=self.equivalence_margin,
            power=self.power,
            seed=self.seed,
        )
