"""Watcher: takes each measurement at the event of a training loop to which it belongs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

from failbench.monitor.activations import Activations
from failbench.monitor.batches import tensors_of
from failbench.monitor.clock import Clock
from failbench.monitor.convention import Convention
from failbench.monitor.evaluation import Evaluations
from failbench.monitor.guard import Guard
from failbench.monitor.hooks import Hooks, innermost, is_compiled, trains, unwrapped
from failbench.monitor.inputs import Inputs
from failbench.monitor.losses import Losses
from failbench.monitor.measurements.gradients import count_left
from failbench.monitor.measurements.model import ModelMeasurement, measure_indices
from failbench.monitor.measurements.optimizer import OptimizerMeasurement
from failbench.monitor.measurements.probes import Probes
from failbench.monitor.memory import memory_of
from failbench.monitor.ranks import Ranks
from failbench.monitor.signals import SIGNALS, Level
from failbench.monitor.steps import Steps
from failbench.monitor.tables import Tables
from failbench.monitor.targets import Targets
from failbench.monitor.vocabulary import Vocabulary

COMPILED: Final = "the model is compiled, and hooks would break its graph"
UNSEEN: Final = ("passes", "gradients left", "indices", "activations", "probes")
"""Measurements that need hooks in the model."""

NOT_IN_BACKWARD: Final = -1  # autograd's answer when idle; at work, a call repeats a forward pass

LATE: Final = ("token_surprise", "pair_surprise", "hyperparameters_changed", "evaluation_changed")
"""Signals that compare with the beginning of training."""


class Watcher:
    """Receives what happens in a loop."""

    def __init__(
        self,
        guard: Guard,
        steps: Steps,
        clock: Clock,
        vocabulary: Vocabulary | None,
        level: Level,
        note: Callable[[str, float], None],
    ) -> None:
        self._guard = guard
        self._steps = steps
        self._clock = clock
        self.hooks = Hooks(self, None if guard.budget is None else guard.budget.timed)
        self.model: Any = None
        self.called = True
        self._compiled = False
        self._optimizers: list[Any] = []
        self.inputs = Inputs(guard, steps, vocabulary, level, note)
        self._structure: Any = None
        self._activations: Any = None
        self._update: Any = None
        self._probes: Any = None
        self._tables: Tables | None = None
        self._from_loop = False
        self._loss_seen = False
        self._in_backward = False
        padding = None if vocabulary is None else vocabulary.padding
        self._losses = Losses(guard, steps, self.hooks, self.inputs, padding)
        self.convention = Convention(guard)
        recomputed = level != "light"
        self.evaluations = Evaluations(guard, steps, self.inputs.surprise, recomputed=recomputed)

    # What the user gives.

    def watch(self, model: Any, optimizers: Sequence[Any]) -> None:
        """Attach to a model and its optimizers."""
        guard = self._guard
        if self.late(model):
            guard.turn_off(LATE, "the monitor was attached after training had begun")
        self._clock.follow()
        self._compiled = is_compiled(model)
        self.model = unwrapped(model)
        self._optimizers = [innermost(optimizer) for optimizer in optimizers]
        device = next((each.device for each in model.parameters()), torch.device("cpu"))
        self._steps.watch(guard.attempt("memory", lambda: memory_of(device)), self._ranks())
        if self.called:
            self.hooks.attach_optimizers()
        if self._compiled:
            for measurement in UNSEEN:
                guard.turn_off_measurement(measurement, COMPILED)
        else:
            if self.called:
                self.hooks.attach_model(model)
            self.hooks.attach_tables(model)
            self._tables = Tables(self.model, measure_indices)
            self._probes = guard.measure("probes", Probes, self.model)
            self._activations = guard.measure("activations", Activations, self.model, guard)
        self._structure = guard.measure("structure", ModelMeasurement, self.model)
        self._update = guard.measure(
            "optimizer", OptimizerMeasurement, self.model, self._optimizers
        )

    def late(self, model: Any) -> bool:
        """Whether a model was trained already when it is about to be watched."""
        return self.inputs.from_loader or any(each.grad is not None for each in model.parameters())

    def batch(self, batch: Any) -> None:
        """A batch came from the loader."""
        if self._steps.pinned == "evaluation":
            self.evaluations.batch(dict(tensors_of(batch)))
            return
        self.inputs.batch(batch)
        if self._compiled:
            self._steps.enter("forward")

    def exhausted(self) -> None:
        """The loader has no more batches."""
        if self._steps.pinned is None:
            self._steps.exhausted()
            self.inputs.begin_pass()

    def loss(self, targets: Targets) -> None:
        """The loop gives what its loss is computed from."""
        self._from_loop = True
        if self._compiled and self._steps.pinned is None:
            self._steps.enter("loss")
            self._begin_forward()
        self._measure_loss(targets)

    # What hooks tell.

    def forward_begins(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The model is called."""
        if self._guard.inside or torch._C._current_graph_task_id() != NOT_IN_BACKWARD:
            return
        if self._clock.thread != threading.get_ident():
            self._clock.follow()
        if self._steps.pinned is not None:
            self.inputs.call(self.model, args, kwargs)
            self.evaluations.forward(self.model, self.inputs.arguments)
        elif not (torch.is_grad_enabled() or self.model.training):
            self._steps.enter("evaluation")
        else:
            self._in_backward = False
            self.inputs.call(self.model, args, kwargs)
            if self._begin_forward() and self._steps.check:
                self._before_check(args, kwargs)
            self.inputs.measure_call()
            self._steps.enter("forward")

    def forward_ends(self, output: Any) -> None:
        """The model returned an output; None where it raised an error."""
        if self._guard.inside or output is None:
            return
        if self._activations is not None and self._activations.is_armed:
            self._guard.measure("activations", self._activations.disarm)
        if self._steps.phase == "forward":
            self._steps.enter("loss")
            self._after_forward(output)
        elif self._steps.pinned is not None:
            self.evaluations.output([tensor for _, tensor in tensors_of(output)])
            self._measure_output_loss(output)
            self.inputs.arguments = {}

    def table_is_read(self, table: Any, ids: Any) -> None:
        """An embedding is called."""
        if self._guard.inside or self._steps.phase != "forward" or self._tables is None:
            return
        if self._guard.measures("indices"):
            self._add("indices", self._tables.measure, table, ids, self.inputs.ids())

    def backward_begins(self) -> None:
        """The first gradient of a backward pass is there."""
        if not self._in_backward and not self._guard.inside:
            self._in_backward = True
            if self._steps.pinned is None:
                if self._update is not None:
                    self._add("gradients left", self._update.at_backward)
                self._steps.current.backwards += 1
                self._steps.enter("backward")

    def backward_ends(self) -> None:
        """All gradients of a backward pass are there."""
        if self._in_backward:
            self._in_backward = False
            self._steps.enter("step")

    def update_begins(self, optimizer: Any, closure: bool) -> None:
        """An optimizer's step begins."""
        if trains(optimizer, self._optimizers, self.model) and not self._guard.inside:
            self._in_backward = False
            self._steps.begin_update(closure)
            self._measure_update("before_step", optimizer, closure)

    def update_ends(self, optimizer: Any, closure: bool) -> None:
        """An optimizer's step ended."""
        if trains(optimizer, self._optimizers, self.model) and not self._guard.inside:
            self._measure_update("after_step", optimizer, closure)
            self._steps.end_update()

    def fails(self, error: Exception) -> None:
        """Something of this raised an error."""
        self._guard.stop(error)

    def catch_up(self) -> None:
        """The run fails: what the budget left out is measured where it is still there."""
        if "batch" in self._guard.catch_up():
            self.inputs.measure_again()

    # What is measured then.

    def _ranks(self) -> Ranks | None:
        try:
            return Ranks(self.model)
        except (ValueError, AttributeError) as error:
            self._guard.turn_off(("ranks_disagree",), str(error))
            return None

    def _begin_forward(self) -> bool:
        stepped = self._steps.current.number > 0 or self._steps.current.stepped
        first = self._steps.forward(self._gradients)
        if first:
            self.hooks.forget_tensors()
            if stepped:
                self._tell_what_is_not_given()
            if self._structure is not None:
                self._add("structure", self._structure.structure)
        return first

    def _before_check(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if self._structure is not None:
            self._add("weights", self._structure.weights)
        if self._probes is not None:
            self._add("probes", self._probes.measure, args, kwargs)
        if self._activations is not None and self._guard.measures("activations"):
            self._guard.measure("activations", self._activations.arm)

    def _after_forward(self, output: Any) -> None:
        if self._activations is not None and self._steps.check:
            self._add("activations", self._activations.measure)
        for _, tensor in tensors_of(output):
            if tensor.grad_fn is not None:
                self.hooks.attach_output(tensor)
                break
        self._measure_output_loss(output)

    def _measure_output_loss(self, output: Any) -> None:
        if not self._from_loop:
            targets = self.convention.targets(self.model, self.inputs.arguments, output)
            if targets is not None:
                self._measure_loss(targets)

    def _measure_loss(self, targets: Targets) -> None:
        if self._steps.pinned is not None:
            self.evaluations.loss(targets)
            return
        self._loss_seen = True
        self._losses.measure(targets)

    def _measure_update(self, moment: str, optimizer: Any, closure: bool) -> None:
        if self._update is None:
            return
        function = getattr(self._update, moment)
        check = self._steps.check and self._guard.measures("update")
        values = None
        if check:
            values = self._guard.measure("update", function, optimizer, True, closure)
        if values is None and not self._guard.is_due("optimizer"):
            values = self._pass(moment, optimizer)
        elif values is None:
            values = self._guard.measure("optimizer", function, optimizer, False, closure)
        self._steps.current.add(values or {})

    def _pass(self, moment: str, optimizer: Any) -> Mapping[str, float] | None:
        """Of a step that is not measured: what moved since one that was, and the count of steps."""
        if moment == "after_step":
            return self._guard.attempt("passed steps", lambda: self._update.count(optimizer))
        if self._update.waits(optimizer):
            return self._guard.measure("passed steps", self._update.moved, optimizer)
        return None

    def _add(self, measurement: str, function: Callable[..., Any], *args: Any) -> None:
        self._steps.current.add(self._guard.values(measurement, function, *args))

    def _gradients(self) -> bool:
        return bool(self._guard.measure("passes", count_left, list(self.model.parameters())))

    def _tell_what_is_not_given(self) -> None:
        if not self.inputs.seen:
            names = [signal.name for signal in SIGNALS if signal.needs in ("data", "vocabulary")]
            names.remove("nonfinite_inputs")
            self._guard.turn_off(names, "no token ids were seen: give the loader to monitor.data")
        if not self._loss_seen:
            names = [signal.name for signal in SIGNALS if signal.needs == "loss"]
            self._guard.turn_off(names, "no loss was seen: give it to monitor.loss")
