"""Unmonitored: what a run that no monitor watches has in its place."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final


class Unmonitored:
    """Has the methods of ``failbench.monitor.Monitor`` that a run calls, and does nothing."""

    def watch(self, model: Any, *optimizers: Any) -> None:
        """Attach to nothing."""

    def data(self, loader: Any) -> Any:
        """The loader itself."""
        return loader

    def loss(self, _logits: Any, _labels: Any, loss: Any) -> Any:
        """The loss itself."""
        return loss

    def phase(self, _name: str) -> AbstractContextManager[None]:
        """A context without effect."""
        return nullcontext()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


UNMONITORED: Final = Unmonitored()  # it has no state
