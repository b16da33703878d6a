"""Stage gallery: one recorded run beside its twin, and all failing runs, a sheet per category."""

from functools import partial
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


def sheet_numbers(runs: pl.DataFrame, healthy: int) -> dict[str, object]:
    """What a sheet's texts name: which signal tells most of its runs, and how they end."""
    outcomes = runs["outcome"].value_counts().sort("count", "outcome", descending=True)
    telling = runs["signal"].drop_nulls().value_counts().sort("count", "signal", descending=True)
    signal, count = telling.row(0) if telling.height else (None, 0)
    return {
        "category": st.CATEGORY_LABELS[runs["category"][0]],
        "failures": runs.height,
        "departing": runs["signal"].drop_nulls().len(),
        "most": run_curves.SIGNALS[signal][0].partition(" (")[0] if signal else "",
        "most_count": count,
        "outcomes": ", ".join(f"{n} {st.words(outcome)}" for outcome, n in outcomes.iter_rows()),
        "healthy": healthy,
        "looked_at": run_curves.LOOKED_AT,
        "departs": run_curves.DEPARTS,
    }


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
    of_setting = telemetry.select(
        (pl.col("architecture") == settings.architecture)
        & (pl.col("optimizer") == settings.optimizer)
    )
    healthy = of_setting.select(pl.col("kind") == "success")
    of_slice = of_setting.select((pl.col("seed") == settings.seed) & (pl.col("kind") != "success"))
    signals = run_curves.sheet_signals(of_slice, healthy)
    runs = run_curves.sheet_runs(of_slice, scenarios).join(signals, on="scenario", how="left")
    points = run_curves.sheet_curves(of_slice, signals, settings.every)
    # how many runs of each category end in each way
    counts = runs.group_by("category", "outcome").len("value").sort("category", "outcome")
    marks = {"onset_step": onset, "failure_step": failure}
    finding = said.text("dashboard", "finding")
    pictures = {"dashboard": run_curves.dashboard_picture(curves, title=finding, **marks)}
    for category in sorted(set(runs["category"]), key=st.CATEGORIES.index):
        of_category = runs.filter(category=category)
        draw = partial(run_curves.draw_gallery, of_category, points)
        height = run_curves.gallery_height(of_category.height)
        sheet = said.with_numbers(sheet_numbers(of_category, healthy.runs.height))
        pictures[f"gallery_{category}"] = sheet.picture("sheets", height, draw)
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
