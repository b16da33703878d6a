"""Settings: how people are simulated, and how what they give gets intervals."""

from __future__ import annotations

from pydantic import Field

from failbench.statistics.intervals import ScenarioIntervalSettings


class HumanBaselineSettings(ScenarioIntervalSettings):
    """How people are simulated; the section ``human_baseline`` of params.yaml."""

    feature_set: str
    studies: int = Field(ge=100)
    couplings: tuple[float, ...] = Field(min_length=1)
    folds: int = Field(ge=1)
    panel: int = Field(ge=1)
