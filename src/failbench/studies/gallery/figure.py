"""What was recorded, as pictures: one run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl
from matplotlib.figure import Figure
from pydantic import BaseModel, ConfigDict, Field

from failbench.errors import BadInputError
from failbench.params import PARAMS
from failbench.reporting.run_curves import pairs, run_curves, sheet_curves, sheet_runs
from failbench.reporting.run_panels import dashboard, gallery
from failbench.scenarios import Architecture, Optimizer, Scenario
from failbench.telemetry import Telemetry


class GallerySettings(BaseModel):
    """The section ``gallery`` of params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    architecture: Architecture
    optimizer: Optimizer
    seed: Annotated[int, Field(ge=0)]
    every: Annotated[int, Field(ge=1, le=50)]


@dataclass(frozen=True)
class Gallery:
    """Two figures, and the points they draw.

    Attributes
    ----------
    dashboard, sheet
        One failing run over its twin; every failing run of one seed.
    dashboard_points, sheet_points
        As ``run_curves`` and ``sheet_curves`` return them.
    counts
        ``category``, ``outcome`` and the number of ``runs`` on the sheet.
    """

    dashboard: Figure
    sheet: Figure
    dashboard_points: pl.DataFrame
    sheet_points: pl.DataFrame
    counts: pl.DataFrame


def draw_gallery(
    telemetry: Telemetry, scenarios: Sequence[Scenario], settings: GallerySettings
) -> Gallery:
    """Draw the run that the settings name, and the sheet of their slice.

    Raises
    ------
    BadInputError
        If no failing run of that name was recorded.
    """
    named = pairs(telemetry).filter(pl.col("run_id") == settings.run_id)
    if named.height == 0:
        raise BadInputError(
            PARAMS,
            "gallery.run_id",
            f"no failing run {settings.run_id!r} was recorded.",
            "Name the run_id of a run of the kind failure in data/telemetry/runs.parquet.",
        )
    run = named.row(0, named=True)
    titles = {scenario.id: scenario.title for scenario in scenarios}
    curves = run_curves(telemetry, settings.run_id)

    slice_ = telemetry.select(
        (pl.col("architecture") == settings.architecture)
        & (pl.col("optimizer") == settings.optimizer)
        & (pl.col("seed") == settings.seed)
        & (pl.col("kind") != "success")
    )
    runs = sheet_runs(slice_, scenarios)
    points = sheet_curves(slice_, settings.every)
    return Gallery(
        dashboard=dashboard(
            curves,
            title=f"{settings.run_id}: {titles[run['scenario']]} ({run['outcome']})",
            onset_step=run["onset_step"],
            failure_step=run["failure_step"],
        ),
        sheet=gallery(
            runs,
            points,
            title=f"{runs.height} failing runs: {settings.architecture}, "
            f"{settings.optimizer}, seed {settings.seed}",
        ),
        dashboard_points=curves,
        sheet_points=points,
        counts=runs.group_by("category", "outcome").len("runs").sort("category", "outcome"),
    )
