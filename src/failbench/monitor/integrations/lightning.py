"""Lightning: one line for ``lightning.Trainer``."""

# It calls ``training_step`` of a module, not the module, and an optimizer's step calls that by a
# closure. So the callback says when a pass begins, and an update begins when its closure returned.

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from failbench.monitor.batches import arguments_of
from failbench.monitor.hooks import Hook, innermost
from failbench.monitor.integrations.callback import CallbackMonitor, MonitoringCallback
from failbench.monitor.signals import MEASUREMENTS

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

FETCHES: Final = "train_dataloader_next"  # end of the name of the profiled wait for a batch

NO_OUTPUT: Final[tuple[Any, dict[str, Any], Any]] = (None, {}, None)
"""In place of a part of a module, what it was called with, and what it returned with a loss."""


class LightningCallback(MonitoringCallback, Callback):
    """Monitors what a ``lightning.Trainer`` fits.

    Parameters
    ----------
    folder
        Where the log goes. A second fit with the same callback logs to ``<folder>-2``, and each of
        several processes to a folder ``rank-<number>`` inside.
    level, every, vocabulary, budget
        As of :class:`failbench.monitor.Monitor`.
    stop_on
        As of :class:`failbench.monitor.stopping.monitor.StoppingMonitor`.

    Attributes
    ----------
    monitor
        Of the last fit; None before the first.

    Raises
    ------
    FileExistsError
        If the folder holds a log already.
    ValueError
        If ``stop_on`` names what cannot stop a run.

    Notes
    -----
    A loss is that of the whole batch: what Lightning divides it by to accumulate gradients, and
    multiplies it with in half precision, is undone. Logits and labels are seen where a part of the
    module is called with labels and returns the loss, as models of Transformers do; elsewhere
    ``training_step`` gives them to ``monitor.loss``. What it does after a forward pass counts as
    forward pass too, until the backward pass.

    ``stop_on`` raises ``StopTraining`` (:mod:`failbench.monitor.stopping.stop`) out of
    ``Trainer.fit``, as ``trainer.should_stop`` is read only after the step that would change
    the weights.
    """

    _output = NO_OUTPUT

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Open a monitor."""
        monitor = self._open(trainer.global_rank, trainer.world_size)
        monitor.watch_parts(pl_module, *trainer.optimizers)
        monitor.turn_off(MEASUREMENTS["probes"], "Lightning calls training_step, not the module")
        self._undo = [
            _hear_fetches(monitor, trainer.profiler),
            *(_hear_updates(monitor, optimizer, pl_module) for optimizer in trainer.optimizers),
            *(self._hear_output(part) for part in (pl_module, *pl_module.children())),
        ]

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin a pass over the data."""
        if self.monitor is not None:
            self.monitor.begin_pass()

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Begin a forward pass."""
        if self.monitor is not None:
            self.monitor.given = False
            self.monitor.forward_begins(batch)

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """End a forward pass, and measure its loss."""
        output, self._output = self._output, NO_OUTPUT
        if self.monitor is None:
            return
        self.monitor.backward_follows(loss)
        if not self.monitor.given:
            self.monitor.loss_of(loss.detach() * _undivided(trainer, pl_module), *output)
        self.monitor.given = False

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """End ``training_step``, which may update weights itself."""
        self._output = NO_OUTPUT
        if self.monitor is not None:
            self.monitor.enter("callback")

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin an evaluation; the few batches that Lightning tries before training are none."""
        if not trainer.sanity_checking:
            self._begin_evaluation()

    def on_validation_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Measure a batch of an evaluation."""
        if self.monitor is not None and self._evaluation is not None:
            self.monitor.given = False
            self.monitor.forward_begins(batch)

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Measure what ``validation_step`` returned."""
        output, self._output = self._output, NO_OUTPUT
        if self.monitor is None or self._evaluation is None:
            return
        self.monitor.forward_ends(outputs)
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if not self.monitor.given and isinstance(loss, torch.Tensor) and loss.numel() == 1:
            self.monitor.loss_of(loss.detach(), *output)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """End an evaluation."""
        self._end_evaluation()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Note how the run ended."""
        if self.monitor is not None:
            self.monitor.fail(exception)
        self._leave()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Close the monitor."""
        if self.monitor is not None:
            self.monitor.close()
        self._leave()

    def _hear_output(self, part: Any) -> Callable[[], None]:
        """Keep what a part of the module is called with, and returns together with a loss."""

        def keep(_: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any) -> None:
            if getattr(output, "loss", None) is not None:
                self._output = part, arguments_of(part, args, kwargs), output

        return part.register_forward_hook(Hook(keep, lambda _: None), with_kwargs=True).remove

    def _leave(self) -> None:
        super()._leave()
        self._output = NO_OUTPUT


def _hear_fetches(monitor: CallbackMonitor, profiler: Any) -> Callable[[], None]:
    """Hear when a batch is asked for: Lightning's profilers are told, and callbacks are not."""
    start = profiler.start

    def heard(name: str) -> None:
        if name.endswith(FETCHES):
            monitor.ask()
        start(name)

    def forget() -> None:
        del profiler.start

    profiler.start = heard
    return forget


def _hear_updates(monitor: CallbackMonitor, optimizer: Any, pl_module: Any) -> Callable[[], None]:
    optimizer = innermost(optimizer)

    def before(_: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if not callable(closure):
            monitor.update_begins(optimizer)
            return None

        def closure_and_begin() -> Any:
            result = closure()
            monitor.update_begins(optimizer)
            return result

        return args[:1] + args[2:], {**kwargs, "closure": closure_and_begin}

    def after(*_: Any) -> None:
        monitor.update_ends(optimizer)
        if not pl_module.automatic_optimization:
            monitor.enter("forward")  # training_step goes on

    hooks = optimizer.register_step_pre_hook(before), optimizer.register_step_post_hook(after)

    def forget() -> None:
        for hook in hooks:
            hook.remove()

    return forget


def _undivided(trainer: Any, pl_module: Any) -> float:
    """What makes the loss of a backward pass that of its whole batch."""
    factor = float(trainer.accumulate_grad_batches) if pl_module.automatic_optimization else 1.0
    scaler = getattr(trainer.precision_plugin, "scaler", None)
    return factor if scaler is None else factor / scaler.get_scale()
