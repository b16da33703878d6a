"""Settings: when a deviation persists, which steps are near a failure, and what counts as much."""

from __future__ import annotations

from pydantic import Field

from failbench.statistics.intervals import ScenarioIntervalSettings


class OnsetSettings(ScenarioIntervalSettings):
    """How kinds of onset are told and tested; the section ``onset`` of params.yaml.

    Nothing here was chosen by results: the band rests on successful runs alone, and every number of
    steps that counts as near is reported.
    """

    persistence: int = Field(ge=2)
    near_steps: int = Field(ge=1)
    other_near_steps: tuple[int, ...]
    healthy_sds: float = Field(gt=0)
    growth: float = Field(gt=1)
    growth_history: int = Field(ge=1)
    permutations: int = Field(ge=1)
    equivalence_margin: float = Field(gt=0, lt=1)
