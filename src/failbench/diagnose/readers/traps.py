"""Traps: values that a log shows and that do not mean what they say.

``data/traps.csv`` says what each means; what is misled by a message stands in
``failbench.messages``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

import polars as pl

from failbench.causes.catalogue import causes
from failbench.diagnose.readers import suspect_losses, suspect_norms, suspect_rates
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.series import Measured

Finder = Callable[[Measured], pl.DataFrame]

FINDERS: Final[dict[str, Finder]] = {
    "hidden_nan": suspect_losses.hidden_nan,
    "missing_loss": suspect_losses.missing,
    "evaluation_not_finite": suspect_losses.evaluation_not_finite,
    "norm_not_measured": suspect_norms.not_measured,
    "norm_of_overflow": suspect_norms.of_overflow,
    "clipped_norm": suspect_norms.clipped,
    "lone_overflow": suspect_norms.lone_overflow,
    "rounded_rate": suspect_rates.rounded,
    "warmup_from_zero": suspect_rates.warmup_from_zero,
    "loss_left_out": suspect_losses.left_out,
    "mean_of_run": suspect_losses.mean_of_run,
    "loss_in_bits": suspect_losses.in_bits,
    "capped_perplexity": suspect_losses.capped_perplexity,
    "perplexity_overflows": suspect_losses.perplexity_overflows,
    "rounded_loss": suspect_losses.rounded,
    "steps_go_back": suspect_rates.steps_go_back,
    "negative_loss": suspect_losses.negative,
    "accumulated_loss": suspect_losses.accumulated,
    "chance_level": suspect_losses.chance_level,
}
"""What finds the rows of each, in the order in which they are told."""


@dataclass(frozen=True)
class Trap:
    """A value that misleads."""

    kind: str
    source: int
    line: int | None
    step: int | None
    rows: int
    meaning: str
    causes: tuple[str, ...] = ()


def traps(log: Log) -> tuple[Trap, ...]:
    """The traps of a log, each once: values that do not mean what they say."""
    found: dict[str, Trap] = {}
    for part in log.rows.partition_by("source", maintain_order=True):
        measured = Measured.of(part)
        for kind, find in FINDERS.items():
            rows = find(measured)
            if rows.height == 0:
                continue
            earlier = found.get(kind)
            found[kind] = (
                _first(kind, rows)
                if earlier is None
                else replace(earlier, rows=earlier.rows + rows.height)
            )
    return tuple(found[kind] for kind in FINDERS if kind in found)


def _first(kind: str, rows: pl.DataFrame) -> Trap:
    source, line, step = rows.select("source", "line", "step").row(0)
    meaning, named = known_traps()[kind]
    return Trap(kind, source, line, step, rows.height, meaning, named)


@cache
def known_traps() -> dict[str, tuple[str, tuple[str, ...]]]:
    """What each kind means, and the causes that it points to."""
    text = files("failbench.diagnose.readers").joinpath("data/traps.csv").read_text("utf-8")
    known = {}
    for row in csv.DictReader(text.splitlines()):
        named = tuple(name for name in row["causes"].split(";") if name)
        if not set(named) <= set(causes()):
            raise ValueError(f"A cause of {row['kind']} is none of the catalogue.")
        known[row["kind"]] = (row["meaning"], named)
    return known
