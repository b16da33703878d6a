"""Settings of the study of logs: which are rendered, and how the model is fitted to them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from failbench.prediction.slices import Seeds
from failbench.records import Record


class DiagnosedLogs(Record):
    """The section ``diagnose_logs`` of params.yaml.

    Attributes
    ----------
    run_seeds
        Seeds of failing runs and twins that are rendered; successes all are.
    formats_per_run
        Formats that each run is rendered in, drawn anew for each run.
    monitor_version
        Frozen version of the monitor whose bounds monitored runs are held against.
    repeats
        Repeats of the folds of the main study.
    inner_folds
        Folds within the training scenarios, on which penalty and temperature are chosen.
    penalties
        To be chosen from, of squared weights.
    margins
        To be chosen from: how far bounds lie beyond healthy logs.
    most_alarmed
        Largest share of the healthy logs of a setting left out that may be alarmed.
    coverage
        Share of logs that are answered where the least sure answers are withheld.
    bins
        Bins of confidence of the calibration error.
    floor_draws
        Draws of its floor.
    evidence_logs
        Logs whose evidence is looked up.
    seed
        Of all draws.
    """

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
