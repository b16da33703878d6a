"""Hooks: where the monitor attaches itself to a model, its loss and all optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

Timed = Callable[[Callable[..., None]], Callable[..., None]]  # gives a function that is timed

INNER = ("optimizer", "_optimizer", "optim", "base_optimizer")  # where wrappers keep what they wrap


class Events(Protocol):
    """What happens in a training loop."""

    def forward_begins(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The model is called."""

    def forward_ends(self, output: Any) -> None:
        """The model returns an output; None where it raised an error."""

    def table_is_read(self, table: Any, ids: Any) -> None:
        """An embedding is called."""

    def backward_begins(self) -> None:
        """The first gradient of a backward pass is there."""

    def backward_ends(self) -> None:
        """All gradients of a backward pass are there."""

    def update_begins(self, optimizer: Any, closure: bool) -> None:
        """An optimizer's step begins, which may compute gradients itself by a closure."""

    def update_ends(self, optimizer: Any, closure: bool) -> None:
        """An optimizer's step ended."""

    def fails(self, error: Exception) -> None:
        """One of these raised an error."""


class Hooks:
    """Attaches a receiver of events, removably; hooks would break a compiled model's graph."""

    def __init__(self, events: Events, timed: Timed | None = None) -> None:
        self._events = events
        self._timed = timed
        self._handles: list[Any] = []
        self._of_tensors: list[Any] = []
        self._begins = self._hook(lambda _: self._backward())
        self._ends = self._hook(self._events.backward_ends)

    def attach_optimizers(self) -> None:
        """Hear of the steps of all optimizers."""
        begins, ends = self._hook(self._events.update_begins), self._hook(self._events.update_ends)
        self._handles += [
            register_optimizer_step_pre_hook(
                lambda optimizer, *given: begins(optimizer, _has_closure(*given))
            ),
            register_optimizer_step_post_hook(
                lambda optimizer, *given: ends(optimizer, _has_closure(*given))
            ),
        ]

    def attach_model(self, model: Any) -> None:
        """Hear of the calls of a model."""
        begins = self._hook(lambda _, args, kwargs: self._events.forward_begins(args, kwargs))
        ends = self._hook(lambda *parts: self._events.forward_ends(parts[-1]))
        self._handles += [
            model.register_forward_pre_hook(begins, with_kwargs=True),
            model.register_forward_hook(ends, always_call=True),
        ]

    def attach_tables(self, model: Any) -> None:
        """Hear of the calls of a model's embeddings."""
        for table in model.modules():
            if isinstance(table, torch.nn.Embedding):
                read = self._hook(self._table_is_read)
                self._handles.append(table.register_forward_pre_hook(read, with_kwargs=True))

    def attach_output(self, tensor: Any) -> None:
        """Hear of the beginning and end of the backward pass through a tensor."""
        if tensor.requires_grad and tensor.grad_fn is not None:
            self._of_tensors.append(tensor.register_hook(self._begins))

    def attach_gradient(self, tensor: Any, receive: Callable[[Any], None]) -> None:
        """Give the gradient at a tensor to a function."""
        if tensor.requires_grad and tensor.grad_fn is not None:
            self._of_tensors.append(tensor.register_hook(self._hook(receive)))

    def forget_tensors(self) -> None:
        """Remove the hooks of tensors, whose graph may outlive its step."""
        for handle in self._of_tensors:
            handle.remove()
        self._of_tensors.clear()

    def remove(self) -> None:
        """Remove all hooks."""
        self.forget_tensors()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _backward(self) -> None:
        self._events.backward_begins()
        torch.autograd.Variable._execution_engine.queue_callback(self._ends)

    def _table_is_read(self, table: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        ids = args[0] if args else kwargs.get("input")
        if ids is not None:
            self._events.table_is_read(table, ids)

    def _hook(self, function: Callable[..., None]) -> Hook:
        called = function if self._timed is None else self._timed(function)
        return Hook(called, self._events.fails)


class Hook:
    """A hook that raises nothing, and is not copied with the model that has it."""

    def __init__(self, function: Callable[..., None], fails: Callable[[Exception], None]) -> None:
        self._function = function
        self._fails = fails

    def __call__(self, *args: Any) -> None:
        """Call the function, but not while the compiler looks."""
        if torch.compiler.is_compiling():
            return
        try:
            self._function(*args)
        except Exception as error:
            self._fails(error)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies of a model, as for averages of weights and in checkpoints, are not watched.
        return Copied, ()


class Copied:
    """What a hook is in a copy of its model: nothing."""

    def __call__(self, *args: Any) -> None:
        """Do nothing."""


def _has_closure(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    return any(callable(given) for given in (*args[1:], *kwargs.values()))


def innermost(optimizer: Any) -> Any:
    """The optimizer that a wrapper makes its steps with."""
    for _ in range(len(INNER)):
        inner = [getattr(optimizer, name, None) for name in INNER]
        wrapped = [other for other in inner if isinstance(other, torch.optim.Optimizer)]
        if not wrapped or wrapped[0] is optimizer:
            break
        optimizer = wrapped[0]
    return optimizer


def trains(optimizer: Any, given: Sequence[Any], model: Any) -> bool:
    """Whether an optimizer was given, or holds parameters of the model and wraps no other."""
    if any(optimizer is each for each in given):
        return True
    if innermost(optimizer) is not optimizer:
        return False
    members = {id(parameter) for parameter in model.parameters()}
    held = (each for group in optimizer.param_groups for each in group["params"])
    return any(id(parameter) in members for parameter in held)


def is_compiled(model: Any) -> bool:
    """Whether a model or a part of it is compiled."""
    return any(
        type(part).__name__ == "OptimizedModule"
        or getattr(part, "_compiled_call_impl", None) is not None
        for part in model.modules()
    )


def unwrapped(model: Any) -> Any:
    """The model that was compiled or is trained on several ranks, without what wraps it."""
    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod
        else:
            return model
