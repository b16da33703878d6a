"""Stage gallery: one recorded run beside its twin, and all failing runs, a sheet per category."""

from typing import Annotated, Any

import polars as pl
from pydantic import Field

from failbench import study as st
from failbench.study import run_curves
from recordings import read_recordings


class GallerySettings(st.Record):
    """The section ``gallery`` of params.yaml."""

    run_id: str
    architecture: st.Architecture
    optimizer: st.Optimizer
    seed: Annotated[int, Field(ge=0)]
    every: Annotated[int, Field(ge=1, le=50)]


def run_of(telemetry: st.Telemetry, run_id: str) -> dict[str, Any]:
    """The failing run that the settings name."""
    named = run_curves.pairs(telemetry).filter(run_id=run_id)
    if named.height == 0:
        problem = f"no failing run {run_id!r} was recorded."
        remedy = "Name the run_id of a run of the kind failure in data/telemetry/runs.parquet."
        raise st.BadInputError(st.PARAMS, "gallery.run_id", problem, remedy)
    return named.row(0, named=True)


def main() -> None:
    settings = st.read_section("gallery", GallerySettings)
    telemetry, scenarios = read_recordings()
    failed = run_of(telemetry, settings.run_id)
    onset, failure = failed["onset_step"], failed["failure_step"]
    named = {
        "title": {scenario.id: scenario.title for scenario in scenarios}[failed["scenario"]],
        "outcome": st.words(failed["outcome"]),
        "step": failure,
        "late": "" if onset is None else st.counted(failure - onset, "step"),
    }
    said = st.Captions.read("gallery", settings, named)
    curves = run_curves.run_curves(telemetry, settings.run_id)
    of_slice = telemetry.select(
        (pl.col("architecture") == settings.architecture)
        & (pl.col("optimizer") == settings.optimizer)
        & (pl.col("seed") == settings.seed)
        & (pl.col("kind") != "success")
    )
    runs = run_curves.sheet_runs(of_slice, scenarios)
    points = run_curves.sheet_curves(of_slice, settings.every)
    setting = said.text("sheets", "setting")
    # how many runs of each category end in each way
    counts = runs.group_by("category", "outcome").len("value").sort("category", "outcome")
    marks = {"onset_step": onset, "failure_step": failure}
    finding = said.text("dashboard", "finding")
    pictures = {"dashboard": run_curves.dashboard_picture(curves, title=finding, **marks)}
    for category in sorted(set(runs["category"]), key=st.CATEGORIES.index):
        sheet = run_curves.gallery_picture(category, runs, points, setting=setting)
        pictures[f"gallery_{category}"] = sheet
    st.publish(
        "gallery",
        metrics={"runs_drawn": st.nest(counts, "category", "outcome", leaves=("value",))},
        points={"dashboard": curves, "gallery": points},
        figures=pictures,
        summary=counts,
        exact=True,
    )


if __name__ == "__main__":
    st.run(main)
