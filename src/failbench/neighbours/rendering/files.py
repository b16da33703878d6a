"""Files of metrics, byte by byte where a writer would bring a server along, and Trainer's log."""

import csv
import io
import json
import math
import struct
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from failbench.neighbours.rendering.printed import number_text, own_lines
from failbench.neighbours.rendering.run import FILE, Files, Writer, as_file, draw_names
from failbench.neighbours.rendering.tracebacks import declared

STARTED: Final = 1_770_000_000.0  # seconds since 1970 at which every run begins
# steps between writes: ``flush_logs_every_n_steps`` of Lightning's CSVLogger. After an exception
# Trainer has the rest written; of a killed process it is lost.
FLUSH: Final = 100

_LIGHTNING: Final = {
    "loss": "train_loss",
    "grad_norm": "grad_2.0_norm_total",
    "perplexity": "train_perplexity",
}
_RUN: Final = "wandb/run-20260314_104107-x1y2z3ab/files"
_STORE: Final = "mlruns/0/5f0c3d2b1a9e4f7c8d6b5a4e3f2c1d0e"
_EVENTS: Final = "runs/events.out.tfevents.1770000000.node01.4711.0"
_POLYNOMIAL: Final = 0x82F63B78  # of CRC-32C, in reversed order of bits
_MASK: Final = 0xA282EAD8


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
    """A file for each metric; ``data/mlflow_meta.yaml`` is as MLflow's ``file_store.py`` has it."""
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


def tensorboard(log: Writer) -> Files:
    """An event file; that of a killed process ends within its last record."""
    known = declared("tags.json")
    tags = known[log.rng.integers(len(known))]
    share = float(log.rng.random())
    times = STARTED + np.cumsum(log.run.seconds)
    payloads = [b"\x09" + struct.pack("<d", STARTED) + b"\x1a\x0dbrain.Event:2"]
    for entry in log.entries():
        payloads += [
            scalar(tags[name].encode(), value, entry.step, float(times[entry.index]))
            for name, value in entry.measured.items()
        ]
    data = records(payloads)
    if log.run.ending.kind == "death" and len(payloads) > 1:
        data = data[: -1 - int(share * (len(payloads[-1]) + 14))]
    return {_EVENTS: data, **log.beside()}


def scalar(tag: bytes, value: float, step: int, time: float) -> bytes:
    """An ``Event`` with one ``simple_value``, in the encoding of Protocol Buffers."""
    with np.errstate(over="ignore"):
        number = struct.pack("<f", float(np.float32(value)))
    inner = b"\x0a" + _varint(len(tag)) + tag + b"\x15" + number
    summary = b"\x0a" + _varint(len(inner)) + inner
    place = b"\x10" + _varint(step) if step else b""
    return b"\x09" + struct.pack("<d", time) + place + b"\x2a" + _varint(len(summary)) + summary


def records(payloads: list[bytes]) -> bytes:
    """Payloads with their lengths and masked checksums, as TFRecord has them."""
    heads = [len(payload).to_bytes(8, "little") for payload in payloads]
    sums = zip(masked_checksums(heads), masked_checksums(payloads), strict=True)
    return b"".join(
        head + of_head + payload + of_payload
        for head, payload, (of_head, of_payload) in zip(heads, payloads, sums, strict=True)
    )


def masked_checksums(texts: list[bytes]) -> list[bytes]:
    """The masked CRC-32C of each text, in four bytes.

    >>> masked_checksums([b"123456789"])[0].hex()
    'e5b08ac7'
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        groups[len(text)].append(place)
    found = np.zeros(len(texts), dtype=np.uint32)
    for length, places in groups.items():
        joined = b"".join(texts[place] for place in places)
        letters = np.frombuffer(joined, dtype=np.uint8).reshape(len(places), length)
        found[places] = _checksums(letters)
    masked = ((found >> np.uint32(15)) | (found << np.uint32(17))) + np.uint32(_MASK)
    data = masked.astype("<u4").tobytes()
    return [data[at : at + 4] for at in range(0, len(data), 4)]


def _checksums(letters: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The CRC-32C of each row of letters."""
    table = _table()
    state = np.full(letters.shape[0], 0xFFFFFFFF, dtype=np.uint32)
    for column in letters.T:
        state = table[(state ^ column) & np.uint32(0xFF)] ^ (state >> np.uint32(8))
    return state ^ np.uint32(0xFFFFFFFF)


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table.astype(np.uint32)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


SAVE_STEPS: Final = (10, 20, 50, 100)  # steps between checkpoints, with which the state is written
_SHORTEST: Final = 1e-3  # seconds, so that nothing is divided by a time that a clock did not see
_ROUNDED: Final = 0.5  # share of states that version 4 wrote, which rounds losses to four digits


def log_history(log: Writer, *, rounded: bool) -> Iterator[dict[str, Any]]:
    """``log_history`` as ``Trainer._maybe_log_save_evaluate`` and its loop make it."""
    run = log.run
    losses = run.signals["loss"]  # those that are not finite: ``logging_nan_inf_filter``
    total, last, upto, whole = np.float32(0), 0, 0, 0.0
    for entry in log.entries(first=1):
        for index in range(upto, entry.index + 1):
            total = added(total, losses[index], run.steps[index] - last)
        upto = entry.index + 1
        step = entry.step + 1
        if entry.values:
            loss = float(total) / (step - last)
            whole += float(total)
            total, last = np.float32(0), step
            yield {
                "loss": round(loss, 4) if rounded else loss,
                "grad_norm": entry.values.get("grad_norm", math.nan),
                "learning_rate": entry.values.get("learning_rate", 0.0),
                "epoch": entry.epoch,
                "step": step,
            }
        if entry.validation is not None:
            seconds = max(run.seconds[entry.index], _SHORTEST)
            yield {
                "eval_loss": entry.validation,
                "eval_runtime": round(seconds, 4),
                "eval_samples_per_second": round(run.sequences / seconds, 3),
                "eval_steps_per_second": round(1 / seconds, 3),
                "epoch": entry.epoch,
                "step": step,
            }
    if run.ending.kind == "completed" and run.steps:
        for index in range(upto, len(losses)):
            total = added(total, losses[index], run.steps[index] - last)
        steps, seconds = len(run.steps), max(sum(run.seconds), _SHORTEST)
        yield {
            "train_runtime": round(seconds, 4),
            "train_samples_per_second": round(run.sequences * steps / seconds, 3),
            "train_steps_per_second": round(steps / seconds, 3),
            "total_flos": 0.0,
            "train_loss": (whole + float(total)) / steps,
            "epoch": steps / run.steps_per_epoch,
            "step": steps,
        }


def added(total: np.float32, loss: float | None, steps_since_log: int) -> np.float32:
    """The sum of losses since the last log with another step's.

    >>> float(added(np.float32(6), float("nan"), 1))
    9.0
    """
    with np.errstate(all="ignore"):
        if loss is None or not math.isfinite(loss):
            return np.float32(total + total / np.float32(1 + steps_since_log))
        return np.float32(total + np.float32(loss))


def printed(row: dict[str, Any], *, rounded: bool) -> str:
    """A row as version 4 prints it, floats as Python shows them, or 5, with four digits as text."""
    shown = {name: value for name, value in row.items() if name not in ("step", "total_flos")}
    if rounded:
        return str({**shown, "epoch": round(row["epoch"], 2)})
    return str({name: f"{value:.4g}" for name, value in shown.items()})


def trainer_lines(log: Writer, *, rounded: bool) -> list[str]:
    """What is printed of a training."""
    return [printed(row, rounded=rounded) for row in log_history(log, rounded=rounded)]


def trainer_state(log: Writer) -> Files:
    """``trainer_state.json`` of the last checkpoint, and of the folder itself at the end."""
    run = log.run
    rounded = bool(log.rng.random() < _ROUNDED)
    every = SAVE_STEPS[log.rng.integers(len(SAVE_STEPS))]
    completed = run.ending.kind == "completed"
    saved = len(run.steps) if completed else len(run.steps) // every * every
    files = log.beside(trainer_lines(log, rounded=rounded))
    if not saved:
        return files
    state = {
        **declared("trainer_state.json"),
        "epoch": saved / run.steps_per_epoch,
        "global_step": saved,
        "log_history": [row for row in log_history(log, rounded=rounded) if row["step"] <= saved],
        "logging_steps": log.shape.every,
        "max_steps": run.planned_steps,
        "num_train_epochs": math.ceil(run.planned_steps / run.steps_per_epoch),
        "save_steps": every,
        "train_batch_size": run.sequences,
    }
    folder = "" if completed else f"checkpoint-{saved}/"
    text = json.dumps(state, indent=2, sort_keys=True) + "\n"
    return {f"{folder}trainer_state.json": text.encode(), **files}
