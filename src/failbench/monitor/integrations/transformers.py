"""Transformers: one line for ``transformers.Trainer``."""

# A callback of it gets neither batch nor loss, and is told of no exception and of no evaluation
# that begins. So it opens and closes a monitor that hears of them by hooks and by the loader.

import atexit
import sys
from collections.abc import Callable
from typing import Any

import torch
from transformers import TrainerCallback

from failbench.monitor.hooks import Hook
from failbench.monitor.integrations.callback import MonitoringCallback


class TransformersCallback(MonitoringCallback, TrainerCallback):
    """Monitors what a ``transformers.Trainer`` trains.

    Parameters
    ----------
    folder
        Where the log goes. A second training with the same callback logs to ``<folder>-2``, and
        each of several processes to a folder ``rank-<number>`` inside.
    level, every, vocabulary, budget
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

    _error: BaseException | None = None
    _evaluates_after_log = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Open a monitor."""
        self._leave()  # the Trainer begins again after an error, as with auto_find_batch_size
        monitor = self._open(args.process_index, args.world_size)
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
        super()._begin_evaluation()

    def _end_evaluation(self) -> None:
        self._evaluates_after_log = False
        super()._end_evaluation()

    def _hear_errors(self, model: Any) -> Callable[[], None]:
        begins = Hook(lambda *_: self._keep(None), lambda _: None)
        ends = Hook(
            lambda *call: self._keep(sys.exc_info()[1] if call[-1] is None else None),
            lambda _: None,
        )
        before = model.register_forward_pre_hook(begins)
        after = model.register_forward_hook(ends, always_call=True)

        def remove() -> None:
            before.remove()
            after.remove()

        return remove

    def _keep(self, error: BaseException | None) -> None:
        self._error = error

    def _leave(self) -> None:
        """End a training whose end was not told, and give back what was attached to."""
        atexit.unregister(self._leave)
        if self.monitor is not None and not self.monitor.ended:
            self.monitor.fail(self._error)
        super()._leave()
        self._error = None
