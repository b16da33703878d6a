"""Draw what was recorded: one run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import matplotlib as mpl
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from failbench.errors import BadInputError
from failbench.reporting.curves import pairs, run_curves, sheet_curves, sheet_runs
from failbench.reporting.figures import dashboard, gallery
from failbench.reporting.style import save_svg
from failbench.scenarios import Architecture, Optimizer, read_scenarios
from failbench.telemetry import read_telemetry
from stage import PARAMS, print_table, read_section, run, write_metrics


class Gallery(BaseModel):
    """The section ``gallery`` of params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    architecture: Architecture
    optimizer: Optimizer
    seed: Annotated[int, Field(ge=0)]
    every: Annotated[int, Field(ge=1, le=50)]


def main() -> None:
    parameters = read_section("gallery", Gallery)
    mpl.rc_file("figures/matplotlibrc")
    telemetry = read_telemetry(Path("data/telemetry"))
    scenarios = read_scenarios(Path("data/scenarios"))

    one = pairs(telemetry).filter(pl.col("run_id") == parameters.run_id)
    if one.height == 0:
        raise BadInputError(
            PARAMS,
            "gallery.run_id",
            f"no failing run {parameters.run_id!r} was recorded.",
            "Name the run_id of a run of the kind failure in data/telemetry/runs.parquet.",
        )
    drawn = one.row(0, named=True)
    titles = {scenario.id: scenario.title for scenario in scenarios}
    curves = run_curves(telemetry, parameters.run_id)
    save_svg(
        dashboard(
            curves,
            title=f"{parameters.run_id}: {titles[drawn['scenario']]} ({drawn['outcome']})",
            onset_step=drawn["onset_step"],
            failure_step=drawn["failure_step"],
        ),
        Path("figures/dashboard.svg"),
    )

    chosen = telemetry.select(
        (pl.col("architecture") == parameters.architecture)
        & (pl.col("optimizer") == parameters.optimizer)
        & (pl.col("seed") == parameters.seed)
        & (pl.col("kind") != "success")
    )
    runs = sheet_runs(chosen, scenarios)
    points = sheet_curves(chosen, parameters.every)
    save_svg(
        gallery(
            runs,
            points,
            title=f"{runs.height} failing runs: {parameters.architecture}, "
            f"{parameters.optimizer}, seed {parameters.seed}",
        ),
        Path("figures/gallery.svg"),
    )

    plots = Path("data/plots")
    plots.mkdir(parents=True, exist_ok=True)
    curves.write_csv(plots / "dashboard.csv")
    points.write_csv(plots / "gallery.csv")
    counts = runs.group_by("category", "outcome").len("runs").sort("category", "outcome")
    metrics: dict[str, dict[str, dict[str, int]]] = {}
    for category, outcome, number in counts.iter_rows():
        metrics.setdefault(category, {})[outcome] = {"value": number}
    write_metrics(Path("data/metrics/gallery.json"), {"runs_drawn": metrics})
    print_table(counts.columns, counts.iter_rows())


if __name__ == "__main__":
    run(main)
