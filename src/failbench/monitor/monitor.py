"""Monitor: what a training loop attaches to be explained when it fails."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch

from failbench.monitor.bounds import read_bounds
from failbench.monitor.budget import OFF, SHARE, Budget
from failbench.monitor.clock import Clock
from failbench.monitor.diagnosis import Diagnosis, diagnose
from failbench.monitor.end import End, end_of_error
from failbench.monitor.guard import Guard, warn
from failbench.monitor.history import History, read_history
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.loader import Loader
from failbench.monitor.log import LINES, Header, LogWriter
from failbench.monitor.memory import Reserve
from failbench.monitor.signals import LEVELS, PHASES, SIGNALS, Level, Phase
from failbench.monitor.steps import Steps
from failbench.monitor.targets import Targets
from failbench.monitor.uncaught import Uncaught
from failbench.monitor.vocabulary import Vocabulary
from failbench.monitor.watcher import Watcher


class Monitor:
    """Measures what must hold in healthy training, and writes it while the run lives.

    Nothing that it does changes a result: it draws from no generator, changes no tensor, and keeps
    no graph. A measurement that raises an error is turned off with one warning, and training goes
    on. It ends with the process at the latest, and notes an uncaught exception as the run's end.

    Parameters
    ----------
    folder
        Where the log goes: a folder that holds none yet.
    level
        What is measured: ``light``, ``standard`` or ``full``.
    every
        Steps from one check to the next: what costs most is measured at checks alone.
    vocabulary
        What is known of the tokenizer.
    budget
        The share of the loop's own time that measuring may take; None for no limit. What takes most
        is measured at fewer steps, and the log says so. Times differ from run to run, and so does
        what is left out: give None where logs are compared. It is None wherever the variable
        ``FAILBENCH_MONITOR_BUDGET`` of the environment is ``off``.

    Raises
    ------
    ValueError
        If the level is none, ``every`` is not positive, or the budget is no share.
    FileExistsError
        If the folder holds a log already.
    OSError
        If the log cannot be written.

    Notes
    -----
    A training step ends with the last optimizer step before the next batch is asked for from
    ``data``, or, without it, before the next forward pass in training. Where gradients accumulate,
    a step spans several batches: of their counts and extremes it has the worst, of losses and
    shares the mean. A step that a ``GradScaler`` skips is a step without the optimizer's signals.

    :class:`failbench.monitor.stopping.monitor.StoppingMonitor` ends a run on what the user names.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        level: Level = "standard",
        every: int = 10,
        vocabulary: Vocabulary | None = None,
        budget: float | None = SHARE,
    ) -> None:
        if level not in LEVELS:
            raise ValueError(f"There is no level {level!r}: give one of {', '.join(LEVELS)}.")
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"Checks cannot be {every!r} steps apart: give 1 or more.")
        if budget is not None and not 0 < budget <= 1:
            raise ValueError(f"{budget!r} is no share of time: give more than 0, up to 1, or None.")
        self.folder = Path(folder)
        try:
            self._writer = LogWriter(self.folder, _header(level, every, vocabulary))
        except FileExistsError as error:
            raise FileExistsError(
                f"{self.folder / LINES} is the log of another run, which is never overwritten: "
                "name another folder."
            ) from error
        self._reserve = Reserve()
        self._pid = os.getpid()
        self._closed = False
        self._clock = Clock()
        self._budget = _budget(budget, every)
        self._guard = Guard(self._writer, self._clock, level, self._budget)
        self._steps = Steps(self._writer, self._guard, self._clock, every)
        self._watcher = Watcher(
            self._guard, self._steps, self._clock, vocabulary, level, self._fact
        )
        self._uncaught = Uncaught(self._note, lambda: self._clock.thread)
        atexit.register(self.close)

    def watch(self, model: Any, *optimizers: Any) -> None:
        """Attach to a model and the optimizers that train it, before the first step.

        Parameters
        ----------
        model
            A ``torch.nn.Module``, wrapped or not. A compiled one gets no hooks; what cannot be seen
            without is noted in the log.
        optimizers
            Of ``torch.optim``, or others that follow its protocol, wrapped or not.

        Raises
        ------
        TypeError
            If these are no model and optimizers.
        RuntimeError
            If a model is watched already.
        """
        if not isinstance(model, torch.nn.Module):
            raise TypeError(
                f"A {type(model).__name__} is no torch.nn.Module: give the model that is trained."
            )
        if not optimizers:
            raise TypeError("No optimizer is given: give those that train the model.")
        for optimizer in optimizers:
            if not hasattr(optimizer, "param_groups"):
                raise TypeError(
                    f"A {type(optimizer).__name__} is no optimizer: give those that train the "
                    "model."
                )
        if self._watcher.model is not None:
            raise RuntimeError(
                "This monitor watches a model already: make another one with its own folder."
            )
        if self._watcher.late(model):
            warn(
                "The monitor was attached after training had begun: what compares with the first "
                "batches is not measured. Attach it before the first batch."
            )
        self._guarded(self._watcher.watch, model, optimizers)

    def data(self, loader: Any) -> Loader:
        """Wrap a loader: iterate over what this returns.

        Inside ``phase("evaluation")`` its batches count for the evaluation.
        """
        return Loader(
            loader,
            ask=lambda: self._guarded(self._steps.ask),
            give=lambda batch: self._guarded(self._watcher.batch, batch),
            exhausted=lambda: self._guarded(self._watcher.exhausted),
        )

    def loss(self, logits: Any, labels: Any, loss: Any) -> Any:
        """Tell what a loss is computed from, after computing it and before its backward pass.

        Parameters
        ----------
        logits
            Of shape (..., classes), or (batch, classes, ...), before a softmax; None if there are
            none.
        labels
            Classes, of the shape of logits without that of the classes, each beside the logits that
            it is compared with; -100 where ignored. None if there are none.
        loss
            The loss whose gradient is taken.

        Returns
        -------
        The loss, which is the same object.
        """
        self._guarded(self._watcher.loss, Targets(logits, labels, loss))
        return loss

    def phase(self, name: Phase) -> AbstractContextManager[None]:
        """Declare what the loop does inside a ``with`` statement.

        Parameters
        ----------
        name
            ``evaluation``: the model is evaluated, and what it is called with, its losses and its
            batches are the evaluation's. Any other name tells what time, memory and an exception
            belong to.

        Raises
        ------
        ValueError
            If there is no such phase.
        """
        if name not in PHASES:
            raise ValueError(f"There is no phase {name!r}: give one of {', '.join(PHASES)}.")
        if name == "evaluation":
            return self._within(self._watcher.evaluations.begin, self._watcher.evaluations.end)
        return self._within(lambda: self._steps.pin(name), self._steps.unpin)

    def history(self) -> History:
        """What was measured so far. Nothing is closed."""
        if not self._closed:
            self._guarded(self._steps.write)
        return read_history(self.folder)

    def diagnosis(self, bounds: str | os.PathLike[str] | None = None) -> Diagnosis:
        """What broke so far, and whose it is.

        Parameters
        ----------
        bounds
            A file of bounds from healthy runs. Without it only those invariants speak that logic
            bounds.

        Raises
        ------
        BadInputError
            If the bounds cannot be read, or are not of this version's invariants.
        """
        fitted = {} if bounds is None else read_bounds(Path(bounds), CATALOGUE).intervals()
        return diagnose(self.history(), fitted)

    def close(self) -> None:
        """End: the run completed. A second call does nothing."""
        self._end(lambda: End("completed", self._steps.phase, self._steps.number))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or (isinstance(error, SystemExit) and not error.code):
            self.close()
        else:
            self._note(error)

    @contextmanager
    def _within(self, begin: Callable[[], bool], end: Callable[[bool], None]) -> Iterator[None]:
        begun = self._guarded(begin)
        try:
            yield
        except BaseException:
            if begun:
                self._guarded(end, True)
            raise
        if begun:
            self._guarded(end, False)

    def _note(self, error: BaseException) -> None:
        self._reserve.release()
        self._end(lambda: end_of_error(error, self._steps.phase, self._steps.number))

    def _end(self, make: Callable[[], End]) -> None:
        if self._closed or os.getpid() != self._pid:  # a forked process has a monitor, but no run
            return
        self._closed = True
        end = make()
        if not end.failed:
            self._guarded_always(self._steps.finish)
        else:
            self._guarded_always(self._watcher.catch_up)
            self._guarded_always(self._steps.write)
        self._watcher.hooks.remove()
        self._uncaught.remove()
        atexit.unregister(self.close)
        self._guard.end(end)
        self._steps.close()

    def _fact(self, name: str, value: float) -> None:
        self._guard.write(self._writer.fact, name, value)

    def _guarded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call what belongs to the monitor alone, and stop measuring if it raises an error."""
        return None if self._closed else self._guarded_always(function, *args)

    def _guarded_always(self, function: Callable[..., Any], *args: Any) -> Any:
        if not self._guard.written:
            self._watcher.hooks.remove()
            return None
        try:
            called = function if self._budget is None else self._budget.timed(function)
            return called(*args)
        except Exception as error:
            self._guard.stop(error)
            return None


def _budget(share: float | None, every: int) -> Budget | None:
    return None if share is None or os.environ.get(OFF) == "off" else Budget(share, every)


def _header(level: Level, every: int, vocabulary: Vocabulary | None) -> Header:
    off, facts = {}, {}
    if vocabulary is None:
        off = {
            signal.name: "nothing is known of the tokenizer: give a Vocabulary"
            for signal in SIGNALS
            if signal.needs == "vocabulary"
        }
    else:
        known = {
            "vocabulary": vocabulary.size,
            "padding": vocabulary.padding,
            "unknown": vocabulary.unknown,
        }
        facts = {name: float(value) for name, value in known.items() if value is not None}
    return Header(level, every, off, facts)
