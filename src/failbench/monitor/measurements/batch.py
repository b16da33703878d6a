"""Measurements of a batch: what the data pipeline hands to the model."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from failbench.monitor.measurements.reductions import is_finite
from failbench.monitor.signals import LEVELS, Level
from failbench.monitor.vocabulary import Vocabulary

REMEMBERED: Final = 50  # batches with which a batch is compared
LEARNT: Final = 20  # batches whose frequencies are the measure of surprise
MOST_IDS: Final = 1 << 18  # ids that are told apart where nothing is said of a vocabulary
CLASSES: Final = 64  # of tokens, by the remainder of their ids: 64 times 64 buckets of pairs

Ids = NDArray[np.int64]


class BatchMeasurement:
    """Measures batches in the order they are read; keeps hashes and counts in fixed memory."""

    def __init__(self, vocabulary: Vocabulary | None, level: Level) -> None:
        self._vocabulary = vocabulary
        self._padding = vocabulary.padding if vocabulary else None
        self._surprise = LEVELS.index(level) >= LEVELS.index("standard")
        self._earlier: deque[int] = deque(maxlen=REMEMBERED)
        self._size = vocabulary.size if vocabulary else MOST_IDS
        self._batches = 0
        # The last token stands for all ids outside.
        self._tokens = np.zeros(self._size + 1 if self._surprise else 0)
        self._pairs = np.zeros((CLASSES, CLASSES))

    def begin_pass(self) -> None:
        """Batches that come again in another pass over the data are no repetition."""
        self._earlier.clear()

    def measure(self, ids: Tensor | None, floats: Sequence[Tensor]) -> dict[str, float]:
        """Measure a batch of training."""
        values: dict[str, float] = {"nonfinite_inputs": _nonfinite(floats)}
        if ids is None:
            return values
        rows = _rows(ids)
        values["rows"] = float(len(rows))
        if not rows.size:
            return values
        values |= self._shape(rows) | self._range(rows)
        if self._surprise:
            values |= self._text(rows)
        return values

    def surprise(self, ids: Tensor) -> float | None:
        """Token surprise of a batch of the evaluation, which is not learnt from."""
        if not self._surprise or self._batches < LEARNT:
            return None
        tokens = self._without_padding(_rows(ids))
        return self._token_surprise(tokens) if tokens.size else None

    def _shape(self, rows: Ids) -> dict[str, float]:
        if self._padding is None:
            lengths = np.full(len(rows), rows.shape[1])
            values = {}
        else:
            lengths = np.count_nonzero(rows != self._padding, axis=1)
            values = {"padding_share": 1 - float(lengths.sum()) / rows.size}
        longest, middle = float(lengths.max()), float(median(lengths.tolist()))
        values["longest_row"] = longest
        if longest:
            values["row_length_ratio"] = longest / middle if middle else math.inf
        return values

    def _range(self, rows: Ids) -> dict[str, float]:
        low, high = int(rows.min()), int(rows.max())
        hashes = tuple(hash(row.tobytes()) for row in rows)
        whole = hash((rows.shape, hashes))
        values = {
            "token_min": float(low),
            "token_max": float(high),
            "repeated_rows": 1 - len(set(hashes)) / len(rows),
            "repeated_batch": float(whole in self._earlier),
        }
        self._earlier.append(whole)
        if self._vocabulary is None:
            return values
        size, unknown = self._vocabulary.size, self._vocabulary.unknown
        inside = low >= 0 and high < size
        outside = 0 if inside else np.count_nonzero((rows < 0) | (rows >= size))
        values["outside_tokenizer"] = float(outside)
        tokens = rows.size if self._padding is None else np.count_nonzero(rows != self._padding)
        if unknown is not None and tokens:
            values["unknown_share"] = float(np.count_nonzero(rows == unknown) / tokens)
        return values

    def _text(self, rows: Ids) -> dict[str, float]:
        tokens = self._without_padding(rows)
        values = {"distinct_share": _distinct(tokens) / tokens.size} if tokens.size else {}
        before, after = self._paired(rows)
        if self._batches >= LEARNT:
            if tokens.size:
                values["token_surprise"] = self._token_surprise(tokens)
            if before.size:
                values["pair_surprise"] = float(self._pairs[before, after].mean())
            return values
        np.add.at(self._tokens, self._places(tokens), 1)
        np.add.at(self._pairs, (before, after), 1)
        self._batches += 1
        if self._batches == LEARNT:
            self._learn()
        return values

    def _learn(self) -> None:
        if self._vocabulary is None:  # ids beyond the largest one seen are one token together
            seen = np.flatnonzero(self._tokens[:-1])
            self._size = int(seen[-1]) + 1 if seen.size else 1
            self._tokens = np.append(self._tokens[: self._size], self._tokens[-1])
        for counts in (self._tokens, self._pairs):
            np.add(counts, 1, out=counts)
            total = counts.sum(axis=-1, keepdims=True)
            np.log(counts, out=counts)
            np.subtract(np.log(total), counts, out=counts)

    def _token_surprise(self, tokens: Ids) -> float:
        return float(self._tokens[self._places(tokens)].mean())

    def _places(self, tokens: Ids) -> Ids:
        return np.where((tokens < 0) | (tokens >= self._size), self._size, tokens)

    def _without_padding(self, rows: Ids) -> Ids:
        flat = rows.reshape(-1)
        return flat if self._padding is None else flat[flat != self._padding]

    def _paired(self, rows: Ids) -> tuple[Ids, Ids]:
        before, after = rows[:, :-1].reshape(-1), rows[:, 1:].reshape(-1)
        if self._padding is not None:
            both = (before != self._padding) & (after != self._padding)
            before, after = before[both], after[both]
        return before % CLASSES, after % CLASSES


def _rows(ids: Tensor) -> Ids:
    array: NDArray[Any] = ids.detach().cpu().numpy()
    rows = array.reshape(len(array), -1) if array.ndim and len(array) else array.reshape(0, 0)
    return np.ascontiguousarray(rows, np.int64)


def _nonfinite(floats: Sequence[Tensor]) -> float:
    count = 0
    for tensor in floats:
        values = tensor.detach()
        if not is_finite(values):
            count += int(torch.count_nonzero(~torch.isfinite(values)))
    return float(count)


def _distinct(tokens: Ids) -> int:
    if tokens.min() >= 0 and tokens.max() < MOST_IDS:
        return int(np.count_nonzero(np.bincount(tokens)))
    return int(np.unique(tokens).size)
