"""Pictures of recorded runs over their twins: the loss, and the signal where the fault shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.study.picture import Picture, legend_outside, save_picture
from failbench.study.run_curves import PANELS, Panel, logarithmic, mark_steps, pairs, run_curves
from failbench.study.style import FULL_WIDTH, LINE, TWIN

SETTING: Final = {"architecture": "transformer", "optimizer": "adamw", "seed": 0}
STYLE: Final = "figures/matplotlibrc"
HEIGHT: Final = 1.7
LOSS: Final = replace(PANELS[0], title="Loss (dots: held out)")
OTHERS: Final = {panel.columns[0]: panel for panel in PANELS[1:]}
SIGNAL_OF_OUTCOME: Final = {
    "slow": "tokens_per_second",
    "hung": "tokens_per_second",
    "degraded": "perplexity",
}


def reference_runs(telemetry: Telemetry) -> dict[str, Mapping[str, object]]:
    """The failing run of each scenario that is shown."""
    chosen = pairs(telemetry).filter(**SETTING)
    return {row["scenario"]: row for row in chosen.iter_rows(named=True)}


def draw(
    telemetry: Telemetry,
    runs: Mapping[str, Mapping[str, object]],
    scenarios: Mapping[str, Scenario],
    root: Path,
    folder: Path,
) -> None:
    """A picture for each scenario, in the style of all figures of the checkout."""
    ids = [run[name] for run in runs.values() for name in ("run_id", "twin")]
    kept = Telemetry(
        telemetry.runs.filter(pl.col("run_id").is_in(ids)),
        telemetry.steps.filter(pl.col("run_id").is_in(ids)),
    )
    with mpl.rc_context(fname=root / STYLE):
        for name, run in runs.items():
            curves = run_curves(kept, str(run["run_id"]))
            panels = (LOSS, OTHERS[_signal(scenarios[name], str(run["outcome"]))])
            title = scenarios[name].title
            drawn = partial(_draw, curves, panels, run)
            save_picture(Picture(title, title, FULL_WIDTH, HEIGHT, drawn), folder / f"{name}.svg")


def _signal(scenario: Scenario, outcome: str) -> str:
    if scenario.category == "memory_hardware" and outcome != "slow":
        return "memory"
    return SIGNAL_OF_OUTCOME.get(outcome, "gradient_norm")


def _draw(
    curves: pl.DataFrame, panels: tuple[Panel, ...], run: Mapping[str, object], figure: Figure
) -> None:
    for axes, panel in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for role, colour in (("twin", TWIN), ("failing", LINE)):
            for column in panel.columns:
                points = curves.filter(pl.col("role") == role).drop_nulls(column)
                dots = column == "validation_loss" or points.height == 1
                look = {"linestyle": "none", "marker": "."} if dots else {"linewidth": 0.9}
                axes.plot(points["step"], points[column], color=colour, **look)
        onset = run["onset_step"]
        mark_steps(axes, None if onset is None else int(str(onset)), int(str(run["failure_step"])))
        axes.set(title=panel.title, ylabel=panel.unit, xlabel="step")
        if panel.logarithmic:
            logarithmic(axes)
    handles = [
        Line2D([], [], color=LINE, label="failing run"),
        Line2D([], [], color=TWIN, label="twin without the fault"),
    ]
    legend_outside(figure, handles, above=False, columns=2)
