"""Trackers of experiments: exports and run folders of Weights & Biases, MLflow's file store."""

from __future__ import annotations

import json
import math
from typing import Final

import numpy as np

from failbench.neighbours.rendering.entries import entries
from failbench.neighbours.rendering.names import draw_names
from failbench.neighbours.rendering.own_loops import own_lines
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.tables import records
from failbench.neighbours.rendering.tensorboard_events import STARTED
from failbench.neighbours.rendering.terminal import FILE, beside, terminal

_RUN: Final = "wandb/run-20260314_104107-x1y2z3ab/files"
_STORE: Final = "mlruns/0/5f0c3d2b1a9e4f7c8d6b5a4e3f2c1d0e"
_META: Final = """\
end_time: null
experiment_id: '0'
lifecycle_stage: active
run_id: 5f0c3d2b1a9e4f7c8d6b5a4e3f2c1d0e
run_name: clear-sun
start_time: {start}
status: 1
"""
"""Of MLflow's ``mlflow/store/tracking/file_store.py``."""


def _series(
    run: LoggedRun, shape: LogShape, names: dict[str, str]
) -> dict[str, list[tuple[int, int, float]]]:
    """Index, step and value of each measurement, by name."""
    series: dict[str, list[tuple[int, int, float]]] = {}
    for entry in entries(run, shape):
        measured = {names[name]: value for name, value in entry.values.items()}
        if entry.validation is not None:
            measured[names["validation"]] = entry.validation
        for name, value in measured.items():
            series.setdefault(name, []).append((entry.index, entry.step, value))
    return series


def wandb_export(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """A CSV for each panel, which has a metric with its lowest and highest value."""
    names = draw_names(rng)
    title = f"clear-sun-{rng.integers(1, 200)}"
    files = {}
    for number, (name, rows) in enumerate(_series(run, shape, names).items()):
        column = f"{title} - {name}"
        lines = [f'"Step","{column}","{column}__MIN","{column}__MAX"']
        for _, step, value in rows:
            cell = _cell(value)
            lines.append(f'"{step}","{cell}","{cell}","{cell}"')
        files[f"wandb_export_{number}.csv"] = "".join(f"{line}\n" for line in lines).encode()
    return {**files, **beside(run, shape, rng)}


def wandb_folder(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """A run folder: what was printed, and the last value of each metric."""
    names = draw_names(rng)
    lines = own_lines(run, shape, names, ": ", ", ")
    printed = terminal(lines, run, shape, rng)[FILE]
    summary: dict[str, object] = {"_step": run.steps[-1] if run.steps else 0}
    for record in records(run, shape, names):
        summary.update(record)
    shown = {
        name: _cell(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in summary.items()
    }
    return {
        f"{_RUN}/output.log": printed,
        f"{_RUN}/wandb-summary.json": json.dumps(shown).encode(),
        f"{_RUN}/config.yaml": b"wandb_version: 1\n",
    }


def mlflow(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """The file store: a file for each metric, with lines of time, value and step."""
    names = draw_names(rng)
    times = STARTED + np.cumsum(run.seconds)
    files = {f"{_STORE}/meta.yaml": _META.format(start=int(1000 * STARTED)).encode()}
    for name, rows in _series(run, shape, names).items():
        text = "".join(f"{int(times[at] * 1000)} {value} {step}\n" for at, step, value in rows)
        files[f"{_STORE}/metrics/{name}"] = text.encode()
    return {**files, **beside(run, shape, rng)}


def _cell(value: float) -> str:
    """A number as JavaScript writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)
