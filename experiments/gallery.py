"""Stage gallery: one recorded run beside its twin, and all failing runs, a sheet per category."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from failbench import study as st
from failbench.study.run_curves import (
    dashboard_picture,
    gallery_picture,
    pairs,
    run_curves,
    sheet_curves,
    sheet_runs,
)
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")


class GallerySettings(st.Record):
    """The section ``gallery`` of params.yaml."""

    run_id: str
    architecture: st.Architecture
    optimizer: st.Optimizer
    seed: Annotated[int, Field(ge=0)]
    every: Annotated[int, Field(ge=1, le=50)]


def run_of(telemetry: st.Telemetry, run_id: str) -> dict[str, Any]:
    """The failing run that the settings name."""
    named = pairs(telemetry).filter(run_id=run_id)
    if named.height == 0:
        raise st.BadInputError(
            st.PARAMS,
            "gallery.run_id",
            f"no failing run {run_id!r} was recorded.",
            "Name the run_id of a run of the kind failure in data/telemetry/runs.parquet.",
        )
    return named.row(0, named=True)


def counts_of(runs: pl.DataFrame) -> pl.DataFrame:
    """How many runs of each category end in each way."""
    return runs.group_by("category", "outcome").len("value").sort("category", "outcome")


def main() -> None:
    settings = st.read_section("gallery", GallerySettings)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    failed = run_of(telemetry, settings.run_id)
    onset, failure = failed["onset_step"], failed["failure_step"]
    named = {
        "title": {scenario.id: scenario.title for scenario in scenarios}[failed["scenario"]],
        "outcome": st.words(failed["outcome"]),
        "step": failure,
        "late": "" if onset is None else st.counted(failure - onset, "step"),
    }
    said = st.Captions.read("gallery", settings, named)
    curves = run_curves(telemetry, settings.run_id)
    of_slice = telemetry.select(
        (pl.col("architecture") == settings.architecture)
        & (pl.col("optimizer") == settings.optimizer)
        & (pl.col("seed") == settings.seed)
        & (pl.col("kind") != "success")
    )
    runs, points = sheet_runs(of_slice, scenarios), sheet_curves(of_slice, settings.every)
    setting = said.text("sheets", "setting")
    drawn = set(runs["category"])
    st.publish(
        "gallery",
        metrics={"runs_drawn": st.nest(counts_of(runs), "category", "outcome", leaves=("value",))},
        points={"dashboard": curves, "gallery": points},
        figures={
            "dashboard": dashboard_picture(
                curves,
                title=said.text("dashboard", "finding"),
                onset_step=onset,
                failure_step=failure,
            ),
            **{
                f"gallery_{category}": gallery_picture(category, runs, points, setting=setting)
                for category in st.CATEGORIES
                if category in drawn
            },
        },
        summary=counts_of(runs),
        exact=True,
    )


if __name__ == "__main__":
    st.run(main)
