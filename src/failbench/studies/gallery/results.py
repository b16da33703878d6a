"""Gallery: which recorded runs are drawn, and the points of their curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.params import PARAMS
from failbench.records import Record
from failbench.reporting.run_curves import pairs, run_curves, sheet_curves, sheet_runs
from failbench.scenarios import Architecture, Optimizer, Scenario
from failbench.telemetry import Telemetry


class GallerySettings(Record):
    """The section ``gallery`` of params.yaml."""

    run_id: str
    architecture: Architecture
    optimizer: Optimizer
    seed: Annotated[int, Field(ge=0)]
    every: Annotated[int, Field(ge=1, le=50)]


@dataclass(frozen=True)
class RunPoints:
    """One failing run over its twin."""

    title: str
    outcome: str
    onset_step: int | None
    failure_step: int
    points: pl.DataFrame


@dataclass(frozen=True)
class SheetPoints:
    """Every failing run of one architecture, optimizer and seed."""

    runs: pl.DataFrame
    points: pl.DataFrame

    @property
    def counts(self) -> pl.DataFrame:
        """``category``, ``outcome`` and the number of ``runs``."""
        return self.runs.group_by("category", "outcome").len("runs").sort("category", "outcome")


def run_points(telemetry: Telemetry, scenarios: Sequence[Scenario], run_id: str) -> RunPoints:
    """The curves of the run that the settings name."""
    named = pairs(telemetry).filter(pl.col("run_id") == run_id)
    if named.height == 0:
        raise BadInputError(
            PARAMS,
            "gallery.run_id",
            f"no failing run {run_id!r} was recorded.",
            "Name the run_id of a run of the kind failure in data/telemetry/runs.parquet.",
        )
    run = named.row(0, named=True)
    titles = {scenario.id: scenario.title for scenario in scenarios}
    return RunPoints(
        title=titles[run["scenario"]],
        outcome=run["outcome"],
        onset_step=run["onset_step"],
        failure_step=run["failure_step"],
        points=run_curves(telemetry, run_id),
    )


def sheet_points(
    telemetry: Telemetry, scenarios: Sequence[Scenario], settings: GallerySettings
) -> SheetPoints:
    """The curves of all failing runs of the slice that the settings name."""
    of_slice = telemetry.select(
        (pl.col("architecture") == settings.architecture)
        & (pl.col("optimizer") == settings.optimizer)
        & (pl.col("seed") == settings.seed)
        & (pl.col("kind") != "success")
    )
    return SheetPoints(sheet_runs(of_slice, scenarios), sheet_curves(of_slice, settings.every))
