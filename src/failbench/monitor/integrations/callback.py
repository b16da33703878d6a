"""Callbacks: what a monitor hears of a loop that lies in a library, and says where it is."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from failbench.monitor.budget import SHARE
from failbench.monitor.convention import AGREES
from failbench.monitor.end import End
from failbench.monitor.loader import Loader
from failbench.monitor.log import LINES
from failbench.monitor.signals import MEASUREMENTS, Level, Phase
from failbench.monitor.stopping.monitor import StoppingMonitor
from failbench.monitor.stopping.stop import chosen
from failbench.monitor.targets import Targets
from failbench.monitor.vocabulary import Vocabulary

LOADING: Final = tuple(  # signals of the time when the loop waits for batches
    name for name in MEASUREMENTS["clock"] + MEASUREMENTS["memory"] if name.endswith("_data")
)


class CallbackMonitor(StoppingMonitor):
    """A monitor whose user is a callback."""

    given = False

    def loss(self, logits: Any, labels: Any, loss: Any) -> Any:
        """Tell what a loss is computed from; see :meth:`Monitor.loss`."""
        self.given = True
        return super().loss(logits, labels, loss)

    def follow(
        self, loader: Any, batches: bool, failed: Callable[[Exception], None]
    ) -> Callable[[], None]:
        """Hear when the loop asks a loader for a batch, whoever iterates over it."""
        kind = type(loader)

        def kept() -> Iterator[Any]:
            try:
                yield from kind.__iter__(loader)
            except Exception as error:
                failed(error)
                raise

        def heard() -> Iterator[Any]:
            told = Loader(
                kept(),
                ask=self.ask,
                give=lambda batch: self._guarded(self._watcher.batch, batch) if batches else None,
                exhausted=lambda: self._guarded(self._watcher.exhausted),
            )
            return iter(told)

        undo = rewire(loader, heard)
        if undo is None:
            self.turn_off(LOADING, f"batches come from a {kind.__name__}")
        return undo or (lambda: None)

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
    def watched(self) -> Any:
        """The model that is watched; None before."""
        return self._watcher.model

    @property
    def now(self) -> Phase:
        """What the loop is doing."""
        return self._steps.phase

    @property
    def hears_losses(self) -> bool:
        """Whether the model's own output has the loss, so that the loop need not give it."""
        return self._watcher._loss_seen and not self._watcher._from_loop

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


def rewire(loader: Any, iterate: Callable[[], Iterator[Any]]) -> Callable[[], None] | None:
    """Let a loader be iterated over by a function; what undoes it, or None if that cannot be."""
    # Its class becomes one of the same name that differs in iteration: a loop keeps its loader.
    # Lists, generators and classes with a layout of their own have none that could be replaced.
    kind = type(loader)
    change = object.__dict__["__class__"].__set__  # Accelerate's loaders claim another class
    try:
        change(loader, type(kind.__name__, (kind,), {"__iter__": lambda _: iterate()}))
    except TypeError:
        return None
    return lambda: change(loader, kind)


class MonitoringCallback:
    """What the callbacks of libraries share: a monitor of each training, and its evaluations."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        level: Level = "standard",
        every: int = 10,
        vocabulary: Vocabulary | None = None,
        stop_on: Iterable[str] | None = None,
        budget: float | None = SHARE,
    ) -> None:
        chosen(stop_on, level)
        self._folder = Path(folder)
        self._settings = level, every, vocabulary, stop_on, budget
        self._undo: list[Callable[[], None]] = []
        self._evaluation: AbstractContextManager[None] | None = None
        self.monitor: CallbackMonitor | None = None
        if (self._folder / LINES).exists():  # before anything is trained
            raise FileExistsError(
                f"{self._folder / LINES} is the log of another run, which is never overwritten: "
                "name another folder."
            )

    def _open(self, rank: int, ranks: int) -> CallbackMonitor:
        number, place = 1, self._folder
        while ((own := place / f"rank-{rank}" if ranks > 1 else place) / LINES).exists():
            number += 1
            place = self._folder.with_name(f"{self._folder.name}-{number}")
        self.monitor = CallbackMonitor(own, *self._settings)
        return self.monitor

    def _begin_evaluation(self) -> None:
        if self.monitor is not None and not self.monitor.ended and self._evaluation is None:
            self._evaluation = self.monitor.phase("evaluation")
            self._evaluation.__enter__()

    def _end_evaluation(self) -> None:
        if self._evaluation is not None:
            self._evaluation.__exit__(None, None, None)
            self._evaluation = None

    def _leave(self) -> None:
        for undo in self._undo:
            undo()
        self._undo, self._evaluation = [], None
