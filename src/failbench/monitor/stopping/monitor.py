"""Stopping: a monitor that ends a training before its weights are touched."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from failbench.monitor.breaks import Break
from failbench.monitor.budget import SHARE
from failbench.monitor.diagnosis import diagnose
from failbench.monitor.end import End
from failbench.monitor.hooks import innermost, trains
from failbench.monitor.invariants import Invariant
from failbench.monitor.log import ABSENT, LAST_STEPS, NOW, NOW_TYPE
from failbench.monitor.monitor import Monitor
from failbench.monitor.signals import MEASUREMENTS, SIGNAL_NAMES, Level
from failbench.monitor.step import AROUND_ONE, MEANS, SMALLEST
from failbench.monitor.stopping.stop import NOT_FINITE, Standing, StopTraining, chosen
from failbench.monitor.vocabulary import Vocabulary

SCALED: Final = ("gradients_nonfinite", "logit_gradient_error", "logit_gradient_scale")
"""Signals of gradients that a ``GradScaler`` made too large: it skips the step, as it should."""

OF_UPDATES: Final = "learning_rate"  # a signal that every step has in which an optimizer stepped

_ABSENT_BITS: Final = np.float64(ABSENT).view(np.uint64)


class StoppingMonitor(Monitor):
    """A monitor that raises ``StopTraining`` (:mod:`failbench.monitor.stopping.stop`) on a break.

    What is measured before an optimizer's step stops that step, so that the weights stay what they
    were: batches, labels, logits and the loss recomputed from them, the structure of the model,
    hyper-parameters, and gradients, all at every step. The signals that are measured at checks
    alone (cadence ``check`` in ``data/signals.csv``: activations, weights, the optimizer's formula,
    live tensors, ranks) stop at a check: before its step where they are measured by then, as
    activations and weights are. What is measured after it or in an evaluation, and the gradients of
    an optimizer that computes them itself by a closure, stop the step that follows.

    An invariant breaks as :func:`failbench.monitor.breaks.breaks` says, of every step. What is not
    measured stops nothing, and neither does what a ``GradScaler`` found to be infinite: gradients
    in a step that it skips, whether it does not make the step or has a fused optimizer skip it.

    Parameters
    ----------
    folder, level, every, vocabulary, budget
        As of :class:`~failbench.monitor.monitor.Monitor`. What a run may be stopped on is measured
        as often as without a budget.
    stop_on
        Names of :func:`failbench.monitor.stopping.stop.choices`: invariants
        (``gradients_finite``), kinds of them (``logic``), or ``nonfinite``. None stops nothing: it
        is a monitor as any other.

    Raises
    ------
    ValueError
        If a name is none of them, and as :class:`~failbench.monitor.monitor.Monitor`.
    FileExistsError, OSError
        As :class:`~failbench.monitor.monitor.Monitor`.

    Notes
    -----
    The log has the exception as the run's end, wherever it is caught. In training on several
    processes only those stop that see the break: gradients that were averaged are seen by all.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        level: Level = "standard",
        every: int = 10,
        vocabulary: Vocabulary | None = None,
        stop_on: Iterable[str] | None = None,
        budget: float | None = SHARE,
    ) -> None:
        invariants = chosen(stop_on, level)
        super().__init__(folder, level, every, vocabulary, budget)
        self._standings = [Standing(invariant) for invariant in invariants]
        names = {OF_UPDATES, *(each.signal for each in invariants)}
        names |= {each.presumes for each in invariants if each.presumes}
        if self._budget is not None and invariants:
            self._budget.keep(name for name, of in MEASUREMENTS.items() if not names.isdisjoint(of))
        self._columns = [place for place, name in enumerate(SIGNAL_NAMES) if name in names]
        self._signals = [SIGNAL_NAMES[place] for place in self._columns]
        self._given: list[Any] = []
        self._own_hook: Any = None
        self._kept: Any = None
        self._seen = -1  # the last step that is over
        self._updating = -1  # the step that is updated, and its updates so far
        self._updates = 0
        self._expected: int | None = None
        self._skipped: set[int] = set()

    def watch(self, model: Any, *optimizers: Any) -> None:
        """Attach to a model and the optimizers that train it; see :meth:`Monitor.watch`."""
        super().watch(model, *optimizers)
        if not self._standings:
            return
        self._given = [innermost(optimizer) for optimizer in optimizers]
        self._kept = np.memmap(self.folder / NOW, NOW_TYPE, "r", shape=(1,))[0]
        if self._watcher.called:
            # Registered after those of the monitor, and so called when they have measured.
            self._own_hook = register_optimizer_step_pre_hook(self._before_update)

    def stop_if_broken(self, optimizer: Any) -> None:
        """Stop if something is broken when an optimizer is about to step.

        Raises
        ------
        StopTraining
            If it is.
        """
        if not self._standings or self._closed or os.getpid() != self._pid or self._guard.inside:
            return
        since = self._clock.read()
        broken = self._guarded(self._break, optimizer)
        error = None if broken is None else self._guarded(self._verdict, broken)
        self._clock.leave_out(since)
        if error is not None:
            self._note(error)
            raise error

    def _before_update(self, optimizer: Any, *_: Any) -> None:
        if torch.compiler.is_compiling():
            return
        if trains(optimizer, self._given, self._watcher.model):
            self.stop_if_broken(optimizer)

    def _break(self, optimizer: Any) -> Break | None:
        step = self._steps.number
        self._count_update(step)
        if _is_skipped(optimizer):
            self._skipped.add(step)
        return self._of_past_steps(step) or self._of_this_step(step)

    def _count_update(self, step: int) -> None:
        if step == self._updating:
            self._updates += 1
            return
        if self._updating >= 0 and self._expected is None:
            self._expected = self._updates
        self._updating, self._updates = step, 1

    def _of_past_steps(self, step: int) -> Break | None:
        first = None
        for number in range(max(self._seen + 1, step - LAST_STEPS), step):
            values = self._written(number)
            if OF_UPDATES not in values or number in self._skipped:
                values = {name: each for name, each in values.items() if name not in SCALED}
            self._standings = [each.after(number, values) for each in self._standings]
            first = first or _first(self._standings)
        self._seen = step - 1
        self._skipped.discard(self._seen)
        return first

    def _of_this_step(self, step: int) -> Break | None:
        current, off = self._steps.current, self._guard.off
        passes = {"forwards": float(current.forwards), "backwards": float(current.backwards)}
        values = {
            name: float(value)
            for name, value in (current.values | passes).items()
            if name not in off and not (name in SCALED and step in self._skipped)
        }
        is_last = self._updates >= (self._expected or len(self._given))
        return _first(
            [
                each.after(step, values)
                for each in self._standings
                if is_last or is_final(each.invariant)
            ]
        )

    def _written(self, step: int) -> Mapping[str, float]:
        slot = step % LAST_STEPS
        if self._kept["steps"][slot] != step:
            return {}
        row = self._kept["values"][slot][self._columns]
        there = (row.view(np.uint64) != _ABSENT_BITS).tolist()
        pairs = zip(self._signals, row.tolist(), there, strict=True)
        return {name: value for name, value, is_there in pairs if is_there}

    def _verdict(self, broken: Break) -> StopTraining:
        return StopTraining(diagnose(self.history(), {}), broken)

    def _end(self, make: Callable[[], End]) -> None:
        super()._end(make)
        if self._closed and self._own_hook is not None:
            self._own_hook.remove()
            self._own_hook = None


def is_final(invariant: Invariant) -> bool:
    """Whether a break in the middle of a step stays one, whatever more is measured in that step."""
    worst = invariant.signal not in MEANS | SMALLEST | AROUND_ONE
    is_bounded_above = invariant.against == "value" and invariant.relation == "at most"
    return invariant.id in NOT_FINITE or (is_bounded_above and worst)


def _first(standings: Iterable[Standing]) -> Break | None:
    return next((each.broken for each in standings if each.broken is not None), None)


def _is_skipped(optimizer: Any) -> bool:
    """Whether a fused optimizer will leave all as it is, as the scaler found infinite gradients."""
    found = getattr(optimizer, "found_inf", None)
    return isinstance(found, torch.Tensor) and bool(found)
