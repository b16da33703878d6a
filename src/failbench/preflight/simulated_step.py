"""Simulated step: forward, loss, backward and update on fake tensors, which hold no numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.optim import Optimizer

from failbench.errors import BadInputError
from failbench.preflight.calling import Forward, Loss, loss_of, outputs_of
from failbench.preflight.findings import Finding, finding
from failbench.preflight.following import Following, names_of, speaks_of_fakes
from failbench.preflight.lookup_findings import LookupFindings
from failbench.preflight.memory import Memory
from failbench.preflight.optimizer_memory import fake_state, state_of, twin_of, values_per_weight
from failbench.preflight.raised import raised_finding, text_of
from failbench.preflight.swapping import swapped
from failbench.preflight.tensors import named_tensors, size_of, with_tensors


@dataclass(frozen=True)
class Simulated:
    """What a simulated step shows."""

    findings: tuple[Finding, ...]
    memory: Memory | None


class SimulatedStep:
    """A step on fake tensors."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer | None,
        loss: Loss | None,
        batch: Any,
        forward: Forward | None,
        vocabulary: int | None,
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._loss = loss
        self._batch = batch
        self._forward = forward
        self._names = names_of({"model": model, "loss": loss})
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._lookups = LookupFindings(vocabulary)
        self._following = Following(self._mode, self._names, self._lookups.note)
        self._findings: list[Finding] = []

    def run(self) -> Simulated:
        """Go through the step."""
        roots = [self._model, *([self._loss] if isinstance(self._loss, nn.Module) else [])]
        with swapped(roots, self._fake) as fakes, self._lookups.about(self._batch), _eagerly():
            batch = self._fake_batch()
            with self._mode, self._following:
                memory = self._step(batch, fakes)
        findings = (*self._lookups.findings, *self._findings)
        return Simulated(findings, memory)

    def _step(self, batch: Any, fakes: Mapping[int, Tensor]) -> Memory | None:
        memory = self._following.memory
        phase = "forward pass"
        try:
            outputs = outputs_of(self._model, batch, self._forward, has_loss=self._loss is not None)
            phase = "loss"
            value = loss_of(outputs, batch, self._loss)
            forward_peak, activations = memory.most, memory.now
            if not self._can_go_back(value):
                return None
            phase = "backward pass"
            memory.restart()
            with _real_gradients_kept(value):
                value.backward()
        except BadInputError:
            raise
        except Exception as error:
            self._note_error(error, phase)
            return None
        backward_peak = memory.most
        trained = [each for each in fakes.values() if each.grad is not None]
        self._note_missing_gradients()
        state, update_peak, first = self._update(fakes)
        model = [*self._model.parameters()]
        return Memory(
            parameters=size_of(model),
            buffers=size_of([*self._model.buffers()]),
            batch=size_of([each for _, each in named_tensors(self._batch)]),
            gradients=size_of([each.grad for each in trained if each.grad is not None]),
            optimizer=state,
            activations=activations,
            forward_peak=forward_peak,
            backward_peak=backward_peak,
            update_peak=update_peak,
            logits=self._following.logits,
            first=first,
            largest=self._following.largest,
        )

    def _update(self, fakes: Mapping[int, Tensor]) -> tuple[int, int, bool]:
        """Bytes of the optimizer's state, the most beside it in its step, whether it is new."""
        if self._optimizer is None:
            return 0, 0, True
        memory, optimizer = self._following.memory, self._optimizer
        twin = twin_of(optimizer, fakes)
        fake_state(optimizer, twin, fakes, self._fake)
        first = not twin.state
        memory.restart()
        before = memory.now
        try:
            type(optimizer).step(twin)
        except Exception as error:
            values = values_per_weight(optimizer)
            name = type(optimizer).__name__
            weights = {id(each): each for group in twin.param_groups for each in group["params"]}
            size = next((each.element_size() for each in weights.values()), 0)
            self._findings.append(
                finding(
                    "optimizer_not_followed",
                    optimizer=name,
                    bytes=f"{values * size:g}",
                    text=text_of(error),
                )
            )
            return int(values * size_of(list(weights.values()))), 0, first
        state = size_of(state_of(twin))
        created = state if first else 0
        return state, max(0, memory.most - before - created), first

    def _can_go_back(self, value: Any) -> bool:
        """Whether a loss is a single number with a graph; what it is otherwise is a finding."""
        if not isinstance(value, Tensor):
            text = f"AttributeError: '{type(value).__name__}' object has no attribute 'backward'"
            self._findings.append(finding("loss_without_graph", error=text))
            return False
        if not value.requires_grad:
            if any(each.requires_grad for each in self._model.parameters()):
                text = (
                    "RuntimeError: element 0 of tensors does not require grad and does not have a "
                    "grad_fn"
                )
                self._findings.append(finding("loss_without_graph", error=text))
            return False  # that nothing requires a gradient is said of the parameters
        if value.numel() != 1:
            text = "RuntimeError: grad can be implicitly created only for scalar outputs"
            shape = str(tuple(value.shape))
            self._findings.append(finding("loss_not_scalar", error=text, shape=shape))
            return False
        return True

    def _note_error(self, error: Exception, phase: str) -> None:
        if speaks_of_fakes(error):
            self._findings.append(finding("not_followed", phase=phase, text=str(error)))
        elif not self._lookups.explains(error):
            cause = "types_mixed" if error is self._following.mixed else None
            self._findings.append(raised_finding(error, phase, self._names, cause))

    def _note_missing_gradients(self) -> None:
        weights = dict(self._model.named_parameters())
        missing = {
            name: each
            for name, each in weights.items()
            if isinstance(each, FakeTensor) and each.requires_grad and each.grad is None
        }
        if missing:
            first = next(iter(missing))
            left_out = sum(each.numel() for each in missing.values())
            share = f"{left_out / sum(each.numel() for each in weights.values()):.2%}"
            self._findings.append(
                finding("no_gradient", where=first, count=len(missing), first=first, share=share)
            )

    def _fake(self, tensor: Tensor) -> Tensor:
        fake = self._mode.from_tensor(tensor, static_shapes=True)
        fake.grad = None  # a step begins by clearing gradients
        self._following.memory.leave_out(fake)
        self._following.values.note(fake, tensor, "")
        return fake

    def _fake_batch(self) -> Any:
        keys = {id(tensor): name for name, tensor in named_tensors(self._batch)}

        def fake_of(tensor: Tensor) -> Tensor:
            fake = self._mode.from_tensor(tensor, static_shapes=True)
            self._following.memory.leave_out(fake)
            self._following.values.note(fake, tensor, keys[id(tensor)])
            return fake

        return with_tensors(self._batch, fake_of)


@contextmanager
def _real_gradients_kept(loss: Tensor) -> Iterator[None]:
    """Put back the gradients of real tensors that a graph reaches, those of another model say."""
    kept: list[tuple[Any, Any]] = []
    seen, waiting = set[Any](), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None and not isinstance(variable, FakeTensor):
            kept.append((variable, variable.grad))
        waiting += [following for following, _ in node.next_functions]
    try:
        yield
    finally:
        for variable, gradient in kept:
            variable.grad = gradient


def _eagerly() -> AbstractContextManager[Any]:
    """A context in which compiled parts run uncompiled, if anything is compiled at all."""
    if "torch._dynamo" in sys.modules:
        return torch.compiler.set_stance("force_eager")
    return nullcontext()
