"""Transformers: one line for ``transformers.Trainer``.

A callback of it gets neither batch nor loss, and is told of no exception and of no evaluation that
begins. So it opens and closes a monitor that hears of passes and updates by PyTorch's hooks, of
batches by the loader's iteration, and of evaluations by what the Trainer is about to do.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from failbench.monitor.hooks import Hook
from failbench.monitor.integrations.told import ToldMonitor, folder_of, refuse_used
from failbench.monitor.signals import Level
from failbench.monitor.stopping.stop import chosen
from failbench.monitor.vocabulary import Vocabulary


class TransformersCallback(TrainerCallback):
    """Monitors what a ``transformers.Trainer`` trains.

    Parameters
    ----------
    folder
        Where the log goes. A second training with the same callback logs to ``<folder>-2``, and
        each of several processes to a folder ``rank-<number>`` inside.
    level, every, vocabulary
        As of :class:`failbench.monitor.Monitor`.
    stop_on
        As of :class:`failbench.monitor.stopping.monitor.StoppingMonitor`.

    Attributes
    ----------
    monitor
        Of the last training; None before the first.

    Raises
    ------
    FileExistsError
        If the folder holds a log already.
    ValueError
        If ``stop_on`` names what cannot stop a run.

    Notes
    -----
    Logits, labels and loss are seen where the model is called with labels and returns a loss. An
    exception that ends the process is noted. Of one that is caught outside of the Trainer, its
    phase is noted, and it itself if it came from the loader or the forward pass.

    ``stop_on`` raises ``StopTraining`` (:mod:`failbench.monitor.stopping.stop`) out of
    ``Trainer.train``, as ``control.should_training_stop`` is read only after the step that would
    change the weights.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        level: Level = "standard",
        every: int = 10,
        vocabulary: Vocabulary | None = None,
        stop_on: Iterable[str] | None = None,
    ) -> None:
        chosen(stop_on, level)
        self._folder = Path(folder)
        self._settings = level, every, vocabulary, stop_on
        self._undo: list[Callable[[], None]] = []
        self._error: BaseException | None = None
        self._evaluation: AbstractContextManager[None] | None = None
        self._evaluates_after_log = False
        self.monitor: ToldMonitor | None = None
        refuse_used(self._folder)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Open a monitor."""
        self._leave()  # the Trainer begins again after an error, as with auto_find_batch_size
        folder = folder_of(self._folder, args.process_index, args.world_size)
        monitor = self.monitor = ToldMonitor(folder, *self._settings)
        model, compiled = kwargs["model"], bool(args.torch_compile)
        # What is compiled is a wrapper that callbacks do not get; this one is never called.
        monitor.watch(torch.compile(model) if compiled else model, kwargs["optimizer"])
        self._undo = [
            monitor.follow(kwargs["train_dataloader"], batches=compiled, failed=self._keep),
            *([] if compiled else [self._hear_errors(model)]),
        ]
        atexit.register(self._leave)
        if args.eval_on_start:
            self._begin_evaluation()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End an evaluation that another callback prevented."""
        self._end_evaluation()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin an evaluation if one follows."""
        self._expect_evaluation(control)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin an evaluation if one follows."""
        self._end_evaluation()
        self._expect_evaluation(control)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin an evaluation if one follows: the Trainer logs before it evaluates."""
        if self._evaluates_after_log:
            self._begin_evaluation()

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End an evaluation."""
        self._end_evaluation()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Close the monitor."""
        self._end_evaluation()
        if self.monitor is not None:
            self.monitor.close()
        self._leave()

    def _expect_evaluation(self, control: Any) -> None:
        if control.should_evaluate and control.should_log:
            self._evaluates_after_log = True
        elif control.should_evaluate:
            self._begin_evaluation()

    def _begin_evaluation(self) -> None:
        self._evaluates_after_log = False
        if self.monitor is not None and self._evaluation is None:
            self._evaluation = self.monitor.phase("evaluation")
            self._evaluation.__enter__()

    def _end_evaluation(self) -> None:
        self._evaluates_after_log = False
        if self._evaluation is not None:
            self._evaluation.__exit__(None, None, None)
            self._evaluation = None

    def _hear_errors(self, model: Any) -> Callable[[], None]:
        """Keep the error of a forward pass until the next one begins."""
        begins = Hook(lambda *_: self._keep(None), lambda _: None)
        ends = Hook(
            lambda *call: self._keep(sys.exc_info()[1] if call[-1] is None else None),
            lambda _: None,
        )
        handles = [
            model.register_forward_pre_hook(begins),
            model.register_forward_hook(ends, always_call=True),
        ]

        def remove() -> None:
            for handle in handles:
                handle.remove()

        return remove

    def _keep(self, error: BaseException | None) -> None:
        self._error = error

    def _leave(self) -> None:
        """End a training whose end was not told, and give back what was attached to."""
        atexit.unregister(self._leave)
        if self.monitor is not None and not self.monitor.ended:
            self.monitor.fail(self._error)
        for undo in self._undo:
            undo()
        self._undo, self._error, self._evaluation = [], None, None
