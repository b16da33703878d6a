"""Lightning: the table that its CSVLogger writes, and its progress bar."""

from __future__ import annotations

import csv
import io
from typing import Final

import numpy as np

from failbench.diagnose.readers.names import SignalName
from failbench.neighbours.rendering.entries import entries
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import bar, beside, terminal

FLUSH: Final = 100
"""Steps between writes: ``flush_logs_every_n_steps`` of CSVLogger. After an exception Trainer has
the rest written; of a killed process it is lost."""

_NAMES: Final[dict[SignalName, str]] = {
    "loss": "train_loss",
    "grad_norm": "grad_2.0_norm_total",
    "perplexity": "train_perplexity",
}
_RATE: Final = "lr-AdamW"
_PATH: Final = "lightning_logs/version_0/metrics.csv"


def lightning_csv(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``metrics.csv``: rates, training and validation on rows of their own, names sorted."""
    files = beside(run, shape, rng)
    written = len(run.steps)
    if run.ending.kind in ("death", "silence"):
        written = written // FLUSH * FLUSH
    rows: list[dict[str, object]] = []
    for entry in entries(run, shape, first=1):
        if entry.step >= written:
            break
        values = dict(entry.values)
        rate = values.pop("learning_rate", None)
        place = {"epoch": int(entry.step / run.steps_per_epoch), "step": entry.step}
        if rate is not None:
            rows.append({_RATE: rate, "step": entry.step})
        if values:
            rows.append({**{_NAMES[name]: value for name, value in values.items()}, **place})
        if entry.validation is not None:
            rows.append({"val_loss": entry.validation, **place})
    if not rows:
        return files
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, sorted(set().union(*rows)))
    writer.writeheader()
    writer.writerows(rows)
    return {_PATH: text.getvalue().encode(), **files}


def lightning_bar(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """The progress bar, of which each state is a line, as it is where output is redirected."""
    lines, latest = [], ""
    speed = float(rng.uniform(2, 40))
    for entry in entries(run, shape, first=1):
        epoch, within = divmod(entry.step, run.steps_per_epoch)
        if entry.validation is not None:
            latest = f", val_loss={_three(entry.validation)}"
        if not entry.values:
            continue
        names = {"loss": "train_loss", "learning_rate": "lr", "perplexity": "train_perplexity"}
        shown = "".join(f", {names[name]}={_three(value)}" for name, value in entry.values.items())
        state = bar(within + 1, run.steps_per_epoch, speed)[:-1]
        lines.append(f"Epoch {epoch}: {state}, v_num=0{shown}{latest}]")
    return terminal(lines, run, shape, rng)


def _three(value: float) -> str:
    """A number as ``tqdm.format_num`` shows it, or with the zeros that Lightning adds.

    >>> _three(2.5), _three(0.00012345)
    ('2.500', '0.000123')
    """
    text = f"{value:.3g}"
    return text.ljust(5, "0") if "." in text and "e" not in text else text
