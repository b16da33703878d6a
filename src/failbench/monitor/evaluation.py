"""Evaluation: what is measured while a loop evaluates its model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import torch


class Evaluation:
    """Signals of one evaluation, from its first batch to its last.

    Parameters
    ----------
    surprise
        Gives the mean surprise of token ids; None where there is nothing to compare with.
    """

    def __init__(self, surprise: Callable[[Any], float | None]) -> None:
        self._surprise = surprise
        self._digest = hashlib.blake2b(digest_size=16)
        self._rows = 0
        self._batches = 0
        self._forwards = 0
        self._graph = False
        self._training = 0
        self._losses: list[float] = []
        self._ratios: list[float] = []
        self._surprises: list[float] = []

    @property
    def batches(self) -> int:
        """Batches so far."""
        return self._batches

    @property
    def forwards(self) -> int:
        """Forward passes so far."""
        return self._forwards

    @property
    def digest(self) -> bytes:
        """A digest of all token ids so far."""
        return self._digest.digest()

    def batch(self, ids: Any) -> None:
        """Measure the token ids of a batch."""
        self._batches += 1
        self._rows = max(self._rows, len(ids))
        ids = ids.detach().cpu().contiguous()
        self._digest.update(str(tuple(ids.shape)).encode())
        self._digest.update(ids.numpy().tobytes())
        surprise = self._surprise(ids)
        if surprise is not None:
            self._surprises.append(surprise)

    def forward(self, model: Any) -> None:
        """Measure the modes of a model when a forward pass begins."""
        self._forwards += 1
        self._training = max(self._training, sum(part.training for part in model.modules()))

    def output(self, tensors: Any) -> None:
        """Note whether a forward pass built a graph."""
        self._graph |= any(tensor.grad_fn is not None for tensor in tensors)

    def loss(self, loss: Any, ratio: float | None) -> None:
        """Note a loss, and its ratio to the recomputed one."""
        self._losses.append(float(loss.detach()) if isinstance(loss, torch.Tensor) else float(loss))
        if ratio is not None:
            self._ratios.append(ratio)

    def values(self, first: bytes | None) -> dict[str, float]:
        """The signals.

        Parameters
        ----------
        first
            The digest of the first evaluation; None if this is the first.
        """
        values: dict[str, float] = {}
        if self._batches:
            values["evaluation_rows"] = self._rows
            values["evaluation_changed"] = float(first is not None and first != self.digest)
        if self._forwards:
            values["evaluation_graph"] = float(self._graph)
            values["evaluation_training"] = self._training
        for name, numbers in (
            ("evaluation_loss", self._losses),
            ("evaluation_loss_ratio", self._ratios),
            ("evaluation_surprise", self._surprises),
        ):
            if numbers:
                values[name] = math.fsum(numbers) / len(numbers) if _finite(numbers) else math.nan
        return values


def _finite(numbers: list[float]) -> bool:
    return all(math.isfinite(number) for number in numbers)
