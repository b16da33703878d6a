"""Settings of the study of crash prediction."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from failbench.statistics.intervals import ScenarioIntervalSettings

RULES: Final = "rules"
DRY_RUN: Final = "dry_run"

COMBINED: Final = "dry_run_else_rules"
"""The dry run where it answers, the rules where it cannot say, told alike."""

MAJORITY: Final = "majority"
LENGTH: Final = "length"
"""Predictors that understand nothing: always the same answer, and a threshold on characters."""

OURS: Final = (RULES, DRY_RUN, COMBINED)


class CrashPredictionSettings(ScenarioIntervalSettings):
    """The section ``crash_prediction`` of params.yaml, with what it takes of ``statistics``."""

    control_seed: int = Field(ge=0)
