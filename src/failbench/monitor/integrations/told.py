"""Told: a monitor of a loop that lies in a library, and is told by it where it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from failbench.monitor.convention import AGREES
from failbench.monitor.end import End
from failbench.monitor.guard import MEASUREMENTS
from failbench.monitor.loader import Loader
from failbench.monitor.log import LINES
from failbench.monitor.signals import Phase
from failbench.monitor.stopping.monitor import StoppingMonitor
from failbench.monitor.targets import Targets

LOADING: Final = tuple(
    name for name in MEASUREMENTS["clock"] + MEASUREMENTS["memory"] if name.endswith("_data")
)
"""Signals of the time when the loop waits for batches."""


class ToldMonitor(StoppingMonitor):
    """A monitor whose user is a callback."""

    given = False

    def loss(self, logits: Any, labels: Any, loss: Any) -> Any:
        """Tell what a loss is computed from; see :meth:`Monitor.loss`."""
        self.given = True
        return super().loss(logits, labels, loss)

    def follow(
        self, loader: Any, batches: bool, failed: Callable[[Exception], None]
    ) -> Callable[[], None]:
        """Hear when the loop asks a loader for a batch, whoever iterates over it.

        The class of the loader is replaced by one of the same name that differs in its iteration:
        the loop keeps its loader, with all that it has.
        """
        kind = type(loader)
        change = object.__dict__["__class__"].__set__  # Accelerate's loaders claim another class

        def iterate(_: Any) -> Iterator[Any]:
            return iter(heard)

        heard = Loader(
            Iterated(lambda: kind.__iter__(loader), failed),
            ask=self.ask,
            give=lambda batch: self._guarded(self._watcher.batch, batch) if batches else None,
            exhausted=lambda: self._guarded(self._watcher.exhausted),
        )
        try:
            change(loader, type(kind.__name__, (kind,), {"__iter__": iterate}))
        except TypeError:  # lists, generators and classes with a layout of their own
            self.turn_off(LOADING, f"batches come from a {kind.__name__}")
            return lambda: None

        def forget() -> None:
            change(loader, kind)

        return forget

    def ask(self) -> None:
        """The loop asks for a batch."""
        self._guarded(self._steps.ask)

    def begin_pass(self) -> None:
        """The loop begins a pass over its data."""
        self._guarded(self._watcher.inputs.begin_pass)

    def watch_parts(self, model: Any, *optimizers: Any) -> None:
        """Watch a model whose passes, and optimizers whose updates, are told instead of heard."""
        self._watcher.called = False
        self.watch(model, *optimizers)

    def forward_begins(self, *args: Any) -> None:
        """A forward pass begins, with what it is given."""
        self._guarded(self._watcher.forward_begins, args, {})

    def forward_ends(self, output: Any) -> None:
        """A forward pass ended with an output."""
        self._guarded(self._watcher.forward_ends, output)

    def backward_follows(self, loss: Any) -> None:
        """A forward pass ended with a loss, whose backward pass begins."""
        if self._steps.phase == "forward":
            self.forward_ends((loss,))
        else:
            self._guarded(self._watcher.hooks.attach_output, loss)

    def loss_of(self, loss: Any, part: Any, arguments: dict[str, Any], output: Any) -> None:
        """Tell a loss, and what the output of a part of the model says of it."""
        self._guarded(self._loss_of, loss, part, arguments, output)

    def _loss_of(self, loss: Any, part: Any, arguments: dict[str, Any], output: Any) -> None:
        targets = self._watcher.convention.targets(part, arguments, output)
        if targets is None or not _same(float(targets.loss.detach()), float(loss)):
            targets = Targets(None, None, loss)
        self._watcher.loss(targets)

    def enter(self, phase: Phase) -> None:
        """The loop begins something else."""
        self._guarded(self._steps.enter, phase)

    def update_begins(self, optimizer: Any) -> None:
        """An optimizer has its gradients, and is about to change weights."""
        self._guarded(self._watcher.update_begins, optimizer, False)
        self.stop_if_broken(optimizer)

    def update_ends(self, optimizer: Any) -> None:
        """An optimizer has changed weights."""
        self._guarded(self._watcher.update_ends, optimizer, False)

    def turn_off(self, signals: Iterable[str], reason: str) -> None:
        """Note that signals are not measured."""
        self._guarded(self._guard.turn_off, signals, reason)

    @property
    def ended(self) -> bool:
        """Whether the run has an end."""
        return self._closed

    def fail(self, error: BaseException | None) -> None:
        """End: the loop was left by an error; None where it is not known by which."""
        if error is not None:
            self._note(error)
            return
        message = "The training ended before its end, by an error that was caught."
        self._end(lambda: End("exception", self._steps.phase, self._steps.number, "", message))


def _same(loss: float, other: float) -> bool:
    return math.isclose(loss, other, rel_tol=AGREES) or (math.isnan(loss) and math.isnan(other))


class Iterated:
    """What is iterated over by a function."""

    def __init__(
        self, begin: Callable[[], Iterator[Any]], failed: Callable[[Exception], None]
    ) -> None:
        self._begin = begin
        self._failed = failed

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._begin()
        except Exception as error:
            self._failed(error)
            raise


def refuse_used(folder: Path) -> None:
    """Refuse a folder that has the log of another run, before anything is trained."""
    if (folder / LINES).exists():
        raise FileExistsError(
            f"{folder / LINES} is the log of another run, which is never overwritten: "
            "name another folder."
        )


def folder_of(folder: Path, rank: int, ranks: int) -> Path:
    """The folder of a training's log."""
    number, place = 1, folder
    while True:
        own = place / f"rank-{rank}" if ranks > 1 else place
        if not (own / LINES).exists():
            return own
        number += 1
        place = folder.with_name(f"{folder.name}-{number}")
