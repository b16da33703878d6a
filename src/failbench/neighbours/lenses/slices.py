"""Slice: the answers of one model to the problems of one task, which is what a lens looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array
from failbench.reasoning.traces import Outcome

CORRECT: Final[Outcome] = "correct"
WRONG: Final[Outcome] = "wrong"
TRUNCATED: Final[Outcome] = "truncated"

LEAST_SPECTRUM: Final = 256
"""Tokens that prompts are padded to, unless one is longer."""

BUCKETS: Final = 16
"""Into about so many buckets the tokens of the longest answer are divided."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scale:
    """What all slices of a file share, so that their numbers compare."""

    spectrum: int
    bucket: int


@dataclass(frozen=True)
class Slice:
    """The answers of a model to the problems of a task."""

    model: str
    task: str
    tokenizer: str
    condition: str | None
    seed: int | None
    rows: pl.DataFrame

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.model}, {self.task}"

    @cached_property
    def right(self) -> Array:
        """1 where the answer is right, ``[n]``."""
        return (self.rows["outcome"] == CORRECT).cast(pl.Float64).to_numpy()

    @cached_property
    def truncated(self) -> Array:
        """1 where there is no answer within the budget, ``[n]``."""
        return (self.rows["outcome"] == TRUNCATED).cast(pl.Float64).to_numpy()

    @property
    def wrong(self) -> Array:
        """1 where the answer is wrong, ``[n]``."""
        return 1.0 - self.right - self.truncated

    @property
    def failed(self) -> Array:
        """1 where it is wrong or truncated, ``[n]``."""
        return 1.0 - self.right

    @cached_property
    def tokens(self) -> Integers:
        """Generated tokens, ``[n]``."""
        return self.rows["tokens"].to_numpy()

    @cached_property
    def lengths(self) -> Integers:
        """Lengths of the problems, ``[n]``."""
        return self.rows["length"].to_numpy()

    @cached_property
    def depths(self) -> Integers:
        """Depths of the problems, ``[n]``."""
        return self.rows["depth"].to_numpy()

    @cached_property
    def cells(self) -> Integers:
        """The number of the cell of length and depth, from 0, ``[n]``."""
        pairs = np.column_stack([self.lengths, self.depths])
        return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)


def scale_of(traces: pl.DataFrame) -> Scale:
    """Buckets of a sixteenth of the longest answer, rounded to powers of two."""
    longest_prompt = int(traces["prompt_ids"].list.len().to_numpy().max())
    longest_answer = int(traces["tokens"].to_numpy().max())
    return Scale(
        spectrum=max(LEAST_SPECTRUM, _power_of_two(longest_prompt)),
        bucket=_power_of_two(-(-longest_answer // BUCKETS)),
    )


def _power_of_two(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()


def slices_of(traces: pl.DataFrame) -> tuple[Slice, ...]:
    """The slices of traces, by model and task."""
    slices = []
    for rows in traces.sort("model", "task", "length", "depth", "item").partition_by(
        "model", "task", maintain_order=True
    ):
        first = rows.row(0, named=True)
        slices.append(
            Slice(
                first["model"],
                first["task"],
                first["tokenizer"],
                first["condition"],
                first["seed"],
                rows,
            )
        )
    return tuple(slices)
