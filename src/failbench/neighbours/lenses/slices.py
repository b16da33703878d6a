"""Slices: the answers of one model to the problems of one task, which a lens looks at.

Resamples draw answers within cells of length and depth, whose sizes are design (Davison and
Hinkley, 1997, "Bootstrap methods and their application", 3.2); the first row is the sample.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.reasoning.traces import Outcome

CORRECT: Final[Outcome] = "correct"
WRONG: Final[Outcome] = "wrong"
TRUNCATED: Final[Outcome] = "truncated"
LEAST_SPECTRUM: Final = 256  # tokens that prompts are padded to, unless one is longer
BUCKETS: Final = 16  # into about so many buckets the tokens of the longest answer are divided
TEXTS: Final = ("model", "condition", "tokenizer", "task", "outcome")
NUMBERS: Final = ("length", "depth", "item", "seed", "tokens")  # columns that may be filtered
USAGE: Final = "Write task=arithmetic, model=a,b or length=4..8."
Integers = npt.NDArray[np.int64]


class ResamplingSettings(Record):
    """How answers are resampled."""

    resamples: int
    confidence: float
    seed: int


DEFAULT = ResamplingSettings(resamples=400, confidence=0.95, seed=0)  # of the command


@dataclass(frozen=True)
class Scale:
    """What all slices of a file share, so that their numbers compare."""

    spectrum: int
    bucket: int


@dataclass(frozen=True)
class Slice:
    """The answers of a model to the problems of a task; arrays have a number for each answer."""

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
        """1 where the answer is right."""
        return (self.rows["outcome"] == CORRECT).cast(pl.Float64).to_numpy()

    @cached_property
    def truncated(self) -> Array:
        """1 where there is no answer within the budget."""
        return (self.rows["outcome"] == TRUNCATED).cast(pl.Float64).to_numpy()

    @property
    def wrong(self) -> Array:
        """1 where the answer is wrong."""
        return 1.0 - self.right - self.truncated

    @property
    def failed(self) -> Array:
        """1 where it is wrong or truncated."""
        return 1.0 - self.right

    @cached_property
    def tokens(self) -> Integers:
        """Generated tokens."""
        return self.rows["tokens"].to_numpy()

    @cached_property
    def lengths(self) -> Integers:
        """Lengths of the problems."""
        return self.rows["length"].to_numpy()

    @cached_property
    def depths(self) -> Integers:
        """Depths of the problems."""
        return self.rows["depth"].to_numpy()

    @cached_property
    def cells(self) -> Integers:
        """The number of the cell of length and depth, from 0."""
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
    ordered = traces.sort("model", "task", "length", "depth", "item")
    names = ("model", "task", "tokenizer", "condition", "seed")
    return tuple(
        Slice(**rows.select(names).row(0, named=True), rows=rows)
        for rows in ordered.partition_by("model", "task", maintain_order=True)
    )


@dataclass(frozen=True)
class Filter:
    """Which traces a lens looks at, as ``--where`` says it of a column."""

    column: str
    kept: pl.Expr


def filter_of(text: str) -> Filter:
    """Read one filter, such as ``length=4..8``."""
    column, equals, wanted = text.partition("=")
    known = (*TEXTS, *NUMBERS)
    if not equals or not wanted:
        raise BadInputError("--where", text, "is no filter.", USAGE)
    if column not in known:
        problem = f"there is no column {column!r} to filter."
        raise BadInputError("--where", text, problem, f"Columns are {', '.join(known)}.")
    if column in TEXTS:
        return Filter(column, pl.col(column).is_in(wanted.split(",")))
    low, dots, high = wanted.partition("..")
    if not dots or not (low or high):
        numbers = [_number(each, text) for each in wanted.split(",")]
        return Filter(column, pl.col(column).is_in(numbers))
    kept = pl.lit(value=True)
    if low:
        kept &= pl.col(column) >= _number(low, text)
    if high:
        kept &= pl.col(column) <= _number(high, text)
    return Filter(column, kept)


def filtered(traces: pl.DataFrame, filters: Iterable[Filter], place: object) -> pl.DataFrame:
    """The rows that all filters keep."""
    left = traces
    for each in filters:
        kept = left.filter(each.kept)
        if kept.is_empty():
            there = left[each.column].drop_nulls().unique().sort()
            values = ", ".join(map(str, there.head(12).to_list()))
            more = ", ..." if len(there) > 12 else ""
            remedy = f"Values are {values}{more}." if len(there) else "Leave the filter out."
            raise BadInputError(place, each.column, "no trace is left by this filter.", remedy)
        left = kept
    return left


def _number(part: str, text: str) -> int:
    if not part.strip().lstrip("-").isdecimal():
        raise BadInputError("--where", text, f"{part!r} is no whole number.", USAGE)
    return int(part)


def answer_weights(cells: Integers, resamples: int, rng: np.random.Generator) -> Array:
    """How often each answer counts, ``[1 + resamples, n]``; the first row is all ones."""
    weights = np.ones((1 + resamples, len(cells)))
    for cell in range(int(cells.max()) + 1):
        members = np.flatnonzero(cells == cell)
        even = np.full(len(members), 1 / len(members))
        weights[1:, members] = rng.multinomial(len(members), even, size=resamples)
    return weights


def group_sums(weights: Array, groups: Integers, size: int) -> Array:
    """Sums of weights by group in every resample, ``[n_draws, size]``."""
    draws = len(weights)
    places = groups + size * np.arange(draws)[:, None]
    summed = np.bincount(places.ravel(), weights.ravel(), minlength=size * draws)
    return np.asarray(summed.reshape(draws, size), dtype=np.float64)


def ratio(above: Array, below: Array) -> Array:
    """One divided by the other, NaN where that is zero."""
    result = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result
