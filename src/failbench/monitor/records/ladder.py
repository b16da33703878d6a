"""Ladder: what must be logged, rung by rung, for the monitor to say why a run failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.monitor.invariants import Invariant, Kind

COST_SCHEMA: Final = pl.Schema(
    {
        "rung": pl.String(),
        "nominal_milliseconds": pl.Float64(),  # of a step, as it was aimed at
        "milliseconds": pl.Float64(),  # of a step without a monitor, as it was
        "ratio": pl.Float64(),  # of a step with what the rung measures to one without
    }
)
"""What each rung takes of a training's time; columns of ``cost.csv``."""


@dataclass(frozen=True)
class Rung:
    """What a rung of the ladder adds to those below."""

    name: str
    label: str
    families: frozenset[str]
    kinds: frozenset[Kind]


def _rung(name: str, label: str, families: str, kinds: tuple[Kind, ...]) -> Rung:
    return Rung(name, label, frozenset(families.split()), frozenset(kinds))


LADDER: Final = (
    _rung("ending", "The ending alone", "", ()),
    _rung("batches", "+ logic of batches, labels and loss", "tokens shape labels loss", ("logic",)),
    _rung(
        "optimizer",
        "+ logic of optimizer, model, gradients and evaluation",
        "optimizer schedule model gradients numbers evaluation",
        ("logic",),
    ),
    _rung("bounds", "+ bounds from healthy runs for these", "", ("statistic", "symptom")),
    _rung("memory", "+ memory and time by phase", "memory time", ()),
    _rung("probes", "+ probes and ranks", "probes ranks", ()),
)
"""From what every run leaves behind to all that the monitor measures."""


def speaking(catalogue: tuple[Invariant, ...]) -> dict[str, tuple[Invariant, ...]]:
    """The invariants that speak on each rung, by its name."""
    families, kinds = frozenset[str](), frozenset[Kind]()
    rungs = {}
    for rung in LADDER:
        families, kinds = families | rung.families, kinds | rung.kinds
        rungs[rung.name] = tuple(
            each for each in catalogue if each.family in families and each.kind in kinds
        )
    return rungs
