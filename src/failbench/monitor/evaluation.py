"""Evaluation: what is measured while a loop evaluates its model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import torch

from failbench.monitor.batches import Tensors, token_ids
from failbench.monitor.guard import Guard
from failbench.monitor.measurements.loss import measure_loss
from failbench.monitor.steps import Steps
from failbench.monitor.targets import Targets


class Evaluation:
    """Signals of one evaluation, from its first batch to its last."""

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
        """The signals."""
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


class Evaluations:
    """Measures the evaluations of a run."""

    def __init__(
        self, guard: Guard, steps: Steps, surprise: Callable[[Any], float | None], recomputed: bool
    ) -> None:
        self._guard = guard
        self._steps = steps
        self._surprise = surprise
        self._recomputed = recomputed
        self._current: Evaluation | None = None
        self._first: bytes | None = None

    def begin(self) -> bool:
        """Count what happens from now on for an evaluation, unless there is one already."""
        begun = self._steps.pin("evaluation")
        if begun:
            self._current = Evaluation(self._surprise)
        return begun

    def end(self, failed: bool) -> None:
        """End the evaluation, because of an exception or not."""
        evaluation, self._current = self._current, None
        self._steps.unpin(failed)
        if evaluation is not None:
            values = self._guard.values("evaluation", evaluation.values, self._first)
            if evaluation.batches and self._first is None:
                self._first = evaluation.digest
            self._steps.current.add(values)
            self._steps.current.evaluated |= bool(values)

    def batch(self, tensors: Tensors) -> None:
        """Measure a batch."""
        named = token_ids(tensors)
        if self._current is not None and named is not None:
            self._guard.measure("evaluation", self._current.batch, named[1])

    def forward(self, model: Any, arguments: Tensors) -> None:
        """Measure a forward pass that begins."""
        if self._current is not None:
            self._guard.measure("evaluation", self._current.forward, model)
            if self._current.batches < self._current.forwards:  # they do not come from a loader
                self.batch(arguments)

    def output(self, tensors: list[Any]) -> None:
        """Measure the output of a forward pass."""
        if self._current is not None:
            self._guard.measure("evaluation", self._current.output, tensors)

    def loss(self, targets: Targets) -> None:
        """Measure a loss."""
        if self._current is not None:
            self._guard.measure("evaluation", self._loss, self._current, targets)

    def _loss(self, evaluation: Evaluation, targets: Targets) -> None:
        ratio = None
        if self._recomputed and targets.logits is not None and targets.labels is not None:
            ratio = measure_loss(*targets.compared, targets.loss).get("loss_ratio")
        evaluation.loss(targets.loss, ratio)


def _finite(numbers: list[float]) -> bool:
    return all(math.isfinite(number) for number in numbers)
