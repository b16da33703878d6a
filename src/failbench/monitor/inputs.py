"""Inputs: the tensors that a loop and a model are given, and the measurement of batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from failbench.monitor.batches import Tensors, arguments_of, floats, tensors_of, token_ids
from failbench.monitor.guard import Guard
from failbench.monitor.measurements.batch import BatchMeasurement
from failbench.monitor.signals import Level
from failbench.monitor.steps import Steps
from failbench.monitor.vocabulary import Vocabulary


class Inputs:
    """Keeps what was given last, and measures each batch once."""

    def __init__(
        self,
        guard: Guard,
        steps: Steps,
        vocabulary: Vocabulary | None,
        level: Level,
        note: Callable[[str, float], None],
    ) -> None:
        self._guard = guard
        self._steps = steps
        self._note = note
        self._measurement = guard.measure("batch", BatchMeasurement, vocabulary, level)
        self._batch: Tensors = {}
        self.arguments: Tensors = {}
        self.from_loader = False
        self.seen = False

    def batch(self, batch: Any) -> None:
        """A loader gave a batch of training."""
        self.from_loader = True
        self._batch, self.arguments = dict(tensors_of(batch)), {}
        self._measure(self._batch)

    def begin_pass(self) -> None:
        """The loader begins again, or will."""
        if self._measurement is not None:
            self._measurement.begin_pass()

    def call(self, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The model is called."""
        given = self._guard.attempt("arguments", lambda: arguments_of(model, args, kwargs))
        self.arguments = given or {}

    def measure_call(self) -> None:
        """Measure what the model is called with, where no loader gives batches."""
        if not self.from_loader:
            self._measure(self.arguments)

    def measure_again(self) -> None:
        """Measure what was given last, which was left out when it came."""
        self._measure(self._batch if self.from_loader else self.arguments)

    def ids(self, shape: Any = None) -> Any:
        """The token ids that the model read, if possible of a shape; None without any."""
        named = token_ids(self.arguments, shape) or token_ids(self._batch, shape)
        return named[1] if named else None

    def surprise(self, ids: Any) -> float | None:
        """Mean surprise of token ids after the first batches of training."""
        if self._measurement is None:
            return None
        surprise: float | None = self._measurement.surprise(ids)
        return surprise

    def _measure(self, tensors: Tensors) -> None:
        if self.seen and not self._guard.measures("batch"):
            return
        named = token_ids(tensors)
        if named is not None and not self.seen:
            self.seen = True
            self._note(f"token ids in {named[0]}", 1.0)
        if self._measurement is not None:
            ids = None if named is None else named[1]
            values = self._guard.values("batch", self._measurement.measure, ids, floats(tensors))
            self._steps.current.add(values)
