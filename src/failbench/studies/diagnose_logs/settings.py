"""Settings of the study of logs: which are rendered, and how the model is fitted to them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from failbench.prediction.slices import Seeds
from failbench.records import Record


class DiagnosedLogs(Record):
    """The section ``diagnose_logs`` of params.yaml."""

    run_seeds: Seeds
    formats_per_run: int = Field(ge=1)
    monitor_version: str
    repeats: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    penalties: tuple[Annotated[float, Field(gt=0)], ...] = Field(min_length=1)
    margins: tuple[Annotated[float, Field(gt=-1)], ...] = Field(min_length=1)
    most_alarmed: float = Field(gt=0, lt=1)
    coverage: float = Field(gt=0, le=1)
    bins: int = Field(ge=2)
    floor_draws: int = Field(ge=1)
    evidence_logs: int = Field(ge=1)
    seed: int = Field(ge=0)
