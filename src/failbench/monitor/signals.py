"""Signals: every quantity that the monitor measures, a number a step, as in ``signals.csv``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, get_args

Level = Literal["light", "standard", "full"]  # each includes those before it

Phase = Literal["build", "data", "forward", "loss", "backward", "step", "evaluation", "callback"]
"""``loss`` is between forward and backward pass; ``callback`` from a step to the next batch."""

Cadence = Literal["step", "check", "evaluation"]  # a check is each tenth step by default

Need = Literal["model", "optimizer", "data", "vocabulary", "loss", "evaluation", "ranks"]
"""What a loop must give: watched things, ``data``, a vocabulary, ``loss``, an evaluation, ranks."""

LEVELS: Final[tuple[Level, ...]] = get_args(Level)
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@dataclass(frozen=True)
class Signal:
    """A quantity that is measured."""

    name: str
    unit: str
    level: Level
    cadence: Cadence
    needs: Need
    exact: bool
    meaning: str


def _read() -> tuple[Signal, ...]:
    text = files("failbench.monitor").joinpath("data/signals.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Signal(**{**row, "exact": row["exact"] == "yes"}) for row in rows)  # type: ignore[arg-type]


SIGNALS: Final = _read()  # all signals, in the order of a log's columns

SIGNAL_NAMES: Final = tuple(signal.name for signal in SIGNALS)


def signals_of(level: Level) -> tuple[Signal, ...]:
    """The signals that a level measures."""
    return tuple(signal for signal in SIGNALS if LEVELS.index(signal.level) <= LEVELS.index(level))


_IN_TRAINING: Final = [phase for phase in PHASES if phase != "build"]

MEASUREMENTS: Final[Mapping[str, tuple[str, ...]]] = {  # signals of each, which fail together
    "arguments": (),
    "passed steps": (),
    "batch": tuple(signal.name for signal in SIGNALS if signal.needs in ("data", "vocabulary")),
    "labels": (
        "labels_ignored",
        "labels_outside",
        "labels_next",
        "labels_same",
        "padding_labelled",
    ),
    "loss": ("loss",),
    "recomputed loss": ("loss_ratio", "logits_nonfinite"),
    "output": ("output_entropy",),
    "logit gradient": ("logit_gradient_error", "logit_gradient_scale"),
    "structure": (
        "modules_in_evaluation",
        "parameters",
        "trainable_parameters",
        "parameter_types",
        "shared_parameters",
        "dropout",
    ),
    "passes": ("forwards", "backwards"),
    "indices": ("outside_token_table", "outside_other_table"),
    "activations": ("activations_nonfinite", "activation_rms", "activation_spread"),
    "weights": ("weight_spread", "weight_gain", "weights_nonfinite"),
    "optimizer": tuple(
        signal.name
        for signal in SIGNALS
        if signal.needs == "optimizer"
        and signal.cadence == "step"
        and signal.name != "gradients_left"
    ),
    "gradients left": ("gradients_left",),
    "update": tuple(
        signal.name
        for signal in SIGNALS
        if signal.needs == "optimizer" and signal.cadence == "check"
    ),
    "memory": ("memory", "memory_available", *(f"memory_{phase}" for phase in _IN_TRAINING)),
    "live tensors": ("live_tensors", "live_bytes"),
    "clock": tuple(f"{kind}_{phase}" for kind in ("busy", "blocked") for phase in _IN_TRAINING),
    "counters": ("page_faults", "bytes_read", "bytes_written"),
    "evaluation": tuple(signal.name for signal in SIGNALS if signal.needs == "evaluation"),
    "ranks": ("ranks_disagree",),
    "probes": tuple(signal.name for signal in SIGNALS if signal.level == "full"),
}
