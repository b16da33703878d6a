"""Settings of the study of crash prediction, read by commands, too."""

from __future__ import annotations

from pydantic import Field

from failbench.statistics.intervals import ScenarioIntervalSettings


class CrashPredictionSettings(ScenarioIntervalSettings):
    """The section ``crash_prediction`` of params.yaml, with what it takes of ``statistics``."""

    control_seed: int = Field(ge=0)
