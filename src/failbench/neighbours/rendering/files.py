"""Files of metrics: tables and records of one's own, and what trackers of experiments keep."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Final

import numpy as np

from failbench.neighbours.rendering.printed import number_text, own_lines
from failbench.neighbours.rendering.shape import draw_names
from failbench.neighbours.rendering.tensorboard_events import STARTED
from failbench.neighbours.rendering.tracebacks import declared
from failbench.neighbours.rendering.writer import FILE, Files, Writer, as_file

FLUSH: Final = 100
"""Steps between writes: ``flush_logs_every_n_steps`` of Lightning's CSVLogger. After an exception
Trainer has the rest written; of a killed process it is lost."""

_LIGHTNING: Final = {
    "loss": "train_loss",
    "grad_norm": "grad_2.0_norm_total",
    "perplexity": "train_perplexity",
}
_RUN: Final = "wandb/run-20260314_104107-x1y2z3ab/files"
_STORE: Final = "mlruns/0/5f0c3d2b1a9e4f7c8d6b5a4e3f2c1d0e"


def table(log: Writer, name: str) -> Files:
    """``metrics.csv`` or ``results.md``: a line for each entry, cells empty where nothing is."""
    text, names = number_text(log.shape.digits), draw_names(log.rng)
    validation = [names["validation"]] if log.shape.validation else []
    heading = [names["step"], *(names[signal] for signal in log.shape.signals), *validation]
    rows = [heading] + [
        [text(record[column]) if column in record else "" for column in heading]
        for record in log.records(names)
    ]
    lines = [",".join(row) for row in rows]
    if name.endswith(".md"):
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"|{' ---: |' * len(heading)}")
    return as_file(lines, name) | log.beside()


def json_lines(log: Writer) -> Files:
    """``log.jsonl``: an object for each entry, with the bare ``NaN`` that Python writes."""
    lines = [json.dumps(record) for record in log.records(draw_names(log.rng))]
    return as_file(lines, "log.jsonl") | log.beside()


def history(log: Writer) -> Files:
    """``history.json``: all records as one list."""
    text = json.dumps(list(log.records(draw_names(log.rng))))
    return {"history.json": text.encode(), **log.beside()}


def lightning_csv(log: Writer) -> Files:
    """``metrics.csv``: rates, training and validation on rows of their own, names sorted."""
    files = log.beside()
    written = len(log.run.steps)
    if log.run.ending.kind in ("death", "silence"):
        written = written // FLUSH * FLUSH
    rows: list[dict[str, object]] = []
    for entry in log.entries(first=1):
        if entry.step >= written:
            break
        values = dict(entry.values)
        rate = values.pop("learning_rate", None)
        place = {"epoch": int(entry.step / log.run.steps_per_epoch), "step": entry.step}
        if rate is not None:
            rows.append({"lr-AdamW": rate, "step": entry.step})
        if values:
            rows.append({**{_LIGHTNING[name]: value for name, value in values.items()}, **place})
        if entry.validation is not None:
            rows.append({"val_loss": entry.validation, **place})
    if not rows:
        return files
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, sorted(set().union(*rows)))
    writer.writeheader()
    writer.writerows(rows)
    return {"lightning_logs/version_0/metrics.csv": text.getvalue().encode(), **files}


def _series(log: Writer, names: dict[str, str]) -> dict[str, list[tuple[int, int, float]]]:
    """Index, step and value of each measurement, by name."""
    series: dict[str, list[tuple[int, int, float]]] = {}
    for entry in log.entries():
        for name, value in entry.measured.items():
            series.setdefault(names[name], []).append((entry.index, entry.step, value))
    return series


def wandb_export(log: Writer) -> Files:
    """A CSV for each panel, which has a metric with its lowest and highest value."""
    names = draw_names(log.rng)
    title = f"clear-sun-{log.rng.integers(1, 200)}"
    files: Files = {}
    for number, (name, rows) in enumerate(_series(log, names).items()):
        column = f"{title} - {name}"
        cells = [(step, _javascript(value)) for _, step, value in rows]
        lines = [f'"{step}","{cell}","{cell}","{cell}"' for step, cell in cells]
        heading = f'"Step","{column}","{column}__MIN","{column}__MAX"'
        files |= as_file([heading, *lines], f"wandb_export_{number}.csv")
    return files | log.beside()


def wandb_folder(log: Writer) -> Files:
    """A run folder: what was printed, and the last value of each metric."""
    names = draw_names(log.rng)
    printed = log.terminal(own_lines(log, names, ": ", ", "))[FILE]
    summary: dict[str, object] = {"_step": log.run.steps[-1] if log.run.steps else 0}
    for record in log.records(names):
        summary.update(record)
    shown = {
        name: _javascript(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in summary.items()
    }
    return {
        f"{_RUN}/output.log": printed,
        f"{_RUN}/wandb-summary.json": json.dumps(shown).encode(),
        f"{_RUN}/config.yaml": b"wandb_version: 1\n",
    }


def mlflow(log: Writer) -> Files:
    """The file store: a file for each metric, with lines of time, value and step.

    ``data/mlflow_meta.yaml`` is as MLflow's ``mlflow/store/tracking/file_store.py`` writes it.
    """
    names = draw_names(log.rng)
    times = STARTED + np.cumsum(log.run.seconds)
    meta: str = declared("mlflow_meta.yaml").format(start=int(1000 * STARTED))
    files = {f"{_STORE}/meta.yaml": meta.encode()}
    for name, rows in _series(log, names).items():
        lines = [f"{int(times[at] * 1000)} {value} {step}" for at, step, value in rows]
        files |= as_file(lines, f"{_STORE}/metrics/{name}")
    return files | log.beside()


def _javascript(value: float) -> str:
    """A number as JavaScript writes it."""
    words = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return words.get(repr(value), repr(value))
