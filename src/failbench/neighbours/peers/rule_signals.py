"""Rule signals: the series of a recorded run that documented rules are held against."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array

Steps = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Signal:
    """Values of a run in the order of its steps; what a step did not reach is left out."""

    steps: Steps
    values: Array


SIGNALS: Final[Mapping[str, str]] = {
    "loss": "training loss of a step",
    "gradient_norm": "norm of all gradients, before clipping",
    "gradient_rms": "the same over the root of the number of parameters",
    "learning_rate": "of a step",
    "step_seconds": "duration of a step",
    "padding_share": "share of places of a batch that hold no token",
    "validation_loss": "held-out loss, every few steps",
    "epoch_loss": "mean training loss since the validation before, at each validation",
    "epoch_gradient_norm": "norm of all gradients, at each validation",
    "epoch_gradient_rms": "the same over the root of the number of parameters",
    "validation_gap": "held-out less mean training loss, as a share of the latter",
    "validation_rise": "change of the held-out loss where the training loss did not rise",
}
"""By name what they are. An epoch stands for the steps from one validation to the next."""


def rule_signals(steps: pl.DataFrame, parameters: int | None) -> dict[str, Signal]:
    """The signals of one run."""
    root = math.sqrt(parameters) if parameters else math.nan
    places = pl.col("sequences") * pl.col("max_length")
    is_epoch = pl.col("validation_loss").is_not_null()
    epoch = is_epoch.shift(1, fill_value=False).cum_sum()
    table = steps.with_columns(
        padding_share=1 - pl.col("tokens") / pl.when(places > 0).then(places),
        epoch_loss=pl.col("loss").mean().over(epoch),
        gradient_rms=pl.col("gradient_norm").cast(pl.Float64) / root,
    )
    epochs = table.filter(is_epoch).with_columns(
        epoch_gradient_norm="gradient_norm",
        epoch_gradient_rms="gradient_rms",
        validation_gap=(pl.col("validation_loss") - pl.col("epoch_loss")) / pl.col("epoch_loss"),
        validation_rise=pl.when(pl.col("epoch_loss").diff() <= 0).then(
            pl.col("validation_loss").diff()
        ),
    )
    at_steps = ("loss", "gradient_norm", "gradient_rms", "learning_rate", "step_seconds")
    return {
        name: _signal(table if name in (*at_steps, "padding_share") else epochs, name)
        for name in SIGNALS
    }


def _signal(table: pl.DataFrame, name: str) -> Signal:
    known = table.select("step", pl.col(name).cast(pl.Float64)).drop_nulls()
    return Signal(known["step"].to_numpy().astype(np.int64), known[name].to_numpy())
