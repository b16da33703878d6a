"""Renderings: the logs that peers are given, as generous as a format can be.

Every signal that a format can have is logged at every step, in all its digits, with the loss on
held-out data; beside files of metrics lies the terminal's output, with the traceback or what a
shell says of a killed process. Nothing is cut, coloured or prefixed. Each run is told of up to its
end. Users log less than that: what a peer makes of such a log is the best that can be asked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.base.telemetry import Telemetry
from failbench.neighbours.peers.recorder import Files
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import logged_run
from failbench.neighbours.rendering.shape import complete_shape

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "runmedic": (
        "csv",
        "json_lines",
        "key_equals",
        "lightning_bar",
        "lightning_csv",
        "mlflow",
        "nanogpt",
        "tensorboard",
        "trainer_state",
        "trainer_v5",
    ),
    "training_doctor": ("csv", "lightning_csv", "tensorboard"),
}
"""Formats that each peer says it reads, of those that telemetry can be written as. The history of
Weights & Biases, which training-doctor reads too, is in no folder that the library writes."""

SEED: Final = 3006
"""The first seed with which users' names of metrics are those that the peers document: ``step``,
``loss``, ``grad_norm``, ``lr``, ``eval_loss``, and for runmedic a memory and a throughput that it
knows."""

SEEDS: Final[dict[str, int]] = {"tensorboard": 11, "trainer_state": 5}
"""The first seeds with which names are those of the Trainer, which both peers know, and with which
its state has all digits and is saved most often."""


def rendering(run: Mapping[str, Any], steps: pl.DataFrame, form: str) -> Files:
    """The log of a run in a format."""
    rng = np.random.default_rng(SEEDS.get(form, SEED))
    return rendered(logged_run(run, steps, None), form, complete_shape(form), rng)


def renderer(telemetry: Telemetry) -> Callable[[str, str], Files]:
    """What renders the runs of telemetry by their ids."""
    runs = {run["run_id"]: run for run in telemetry.runs.to_dicts()}
    parts = telemetry.steps.sort("run_id", "step").partition_by("run_id", as_dict=True)

    def render(run_id: str, form: str) -> Files:
        return rendering(runs[run_id], parts.get((run_id,), telemetry.steps.clear()), form)

    return render
