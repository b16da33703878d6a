"""Preflight: what a training step will do, said before it is taken."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final
from warnings import WarningMessage

import torch
from torch import nn
from torch.optim import Optimizer

from failbench.causes.catalogue import advice
from failbench.errors import BadInputError
from failbench.preflight.calling import Forward, Loss
from failbench.preflight.capacity import free_bytes
from failbench.preflight.findings import Finding, Report, finding, ordered
from failbench.preflight.following import MESSAGES_OF_FAKES
from failbench.preflight.memory import Memory, margin, readable
from failbench.preflight.optimizer_memory import state_of
from failbench.preflight.real_step import real_step as taken
from failbench.preflight.simulated_step import SimulatedStep
from failbench.preflight.tensors import named_tensors, size_of
from failbench.preflight.training_checks import (
    device_checks,
    gradient_checks,
    mode_checks,
    optimizer_checks,
)
from failbench.preflight.undisturbed import undisturbed
from failbench.preflight.value_checks import batch_values, parameter_values

# classes around a model, and where they keep it: other ranks and compilers are left out
WRAPPERS: Final = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "OptimizedModule": "_orig_mod",
}

MOST_WARNINGS: Final = 5


def preflight(
    model: nn.Module,
    optimizer: Optimizer | None,
    loss: Loss | None,
    batch: Any,
    *,
    capacity_bytes: int | None = None,
    forward: Forward | None = None,
    vocabulary: int | None = None,
    real_step: bool = False,
) -> Report:
    """Say before a training step what in it will crash, or cannot work, and why.

    Forward pass, loss, backward pass and update are gone through on fake tensors, which have shapes
    and types and no numbers: nothing is computed but what integers hold, and no memory is taken.
    Model, optimizer, batch and the states of random generators are left bit for bit as they were.
    The Python code of the model and of its hooks does run: what it writes to objects that are not
    modules stays.

    Parameters
    ----------
    model
        In the mode and on the device in which it will be trained.
    optimizer
        Over its parameters; None leaves it out.
    loss
        A function of outputs and targets; None where the model's outputs have their own ``loss``.
    batch
        As the loop has it: a mapping is passed to the model by keywords, of a pair the first is the
        input and the second the target.
    capacity_bytes
        Memory for all that the training allocates; what is free now and what model, optimizer and
        batch hold already, unless given.
    forward
        ``forward(model, batch)`` gives the outputs, where the convention does not fit.
    vocabulary
        Entries of the tokenizer, ``len(tokenizer)``: tells data with foreign ids from a model with
        too small a table.
    real_step
        Take one real step on a copy as well; it needs the memory and time of one.

    Raises
    ------
    BadInputError
        If what is given is no model, optimizer or batch, or there is no loss.
    """
    started = time.perf_counter()
    _refuse(model, optimizer, batch, capacity_bytes)
    model = _unwrapped(model)
    optimizer = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps it
    with undisturbed() as heard:
        findings = [
            *device_checks(model, batch),
            *gradient_checks(model),
            *batch_values(batch),
            *parameter_values(model),
            *mode_checks(model),
            *([] if optimizer is None else optimizer_checks(model, optimizer)),
        ]
        with torch.inference_mode(False), torch.enable_grad():
            step = SimulatedStep(model, optimizer, loss, batch, forward, vocabulary).run()
            findings += step.findings
            if real_step:
                findings += taken(model, optimizer, loss, batch, forward)
    capacity = capacity_bytes
    if capacity is None:
        capacity = capacity_of(model, optimizer, batch)
    if step.memory is not None and capacity is not None:
        findings += _memory_findings(step.memory, capacity)
    findings += _warnings(heard)
    seconds = time.perf_counter() - started
    return Report(ordered(findings), step.memory, capacity, seconds)


def _refuse(model: Any, optimizer: Any, batch: Any, capacity_bytes: int | None) -> None:
    if not isinstance(model, nn.Module):
        problem = f"is a {type(model).__name__} and no torch.nn.Module."
        raise BadInputError("preflight", "model", problem, "Give the model that is trained.")
    if optimizer is not None and not hasattr(optimizer, "param_groups"):
        problem = f"is a {type(optimizer).__name__} and has no param_groups."
        remedy = "Give a torch.optim.Optimizer, or None."
        raise BadInputError("preflight", "optimizer", problem, remedy)
    if not any(True for _ in named_tensors(batch)):
        problem = f"is a {type(batch).__name__} in which there is no tensor."
        remedy = "Give tensors, in mappings, sequences or dataclasses."
        raise BadInputError("preflight", "batch", problem, remedy)
    if capacity_bytes is not None and capacity_bytes <= 0:
        problem = f"is {capacity_bytes}."
        raise BadInputError("preflight", "capacity_bytes", problem, "Give a positive number.")


def _unwrapped(model: nn.Module) -> nn.Module:
    while type(model).__name__ in WRAPPERS:
        model = getattr(model, WRAPPERS[type(model).__name__])
    return model


def capacity_of(model: nn.Module, optimizer: Optimizer | None, batch: Any) -> int | None:
    """Bytes that are free now, and that model, optimizer and batch hold; None if not known."""
    parameters = [*model.parameters()]
    device = parameters[0].device if parameters else torch.device("cpu")
    free = free_bytes(device)
    if free is None:
        return None
    gradients = [each.grad for each in parameters if each.grad is not None]
    held = [*parameters, *model.buffers(), *(each for _, each in named_tensors(batch)), *gradients]
    held += [] if optimizer is None else state_of(optimizer)
    return free + size_of([each for each in held if each.device == device])


def _memory_findings(memory: Memory, capacity: int) -> Iterator[Finding]:
    if margin().of(memory.peak) <= capacity:
        return
    cause = memory.cause
    parts = (
        f"Weights and buffers {readable(memory.parameters + memory.buffers)}, gradients "
        f"{readable(memory.gradients)}, optimizer {readable(memory.optimizer)}, kept for the "
        f"backward pass {readable(memory.activations)}, batch {readable(memory.batch)}"
    )
    where = ""
    largest = memory.largest
    if largest is not None:
        shape = " x ".join(map(str, largest.shape))
        where = largest.where
        parts += (
            f"; the largest tensor is {largest.operation} of {shape}, {readable(largest.bytes)}"
        )
    phase = memory.exceeded(capacity)
    values: dict[str, Any] = {
        "where": where,
        "cause": cause,
        "needed": readable(memory.peak),
        "capacity": readable(capacity),
        "parts": parts,
        "advice": advice()[cause].remedies[0].change,
    }
    if phase is None:
        yield finding("tight", most=readable(margin().of(memory.peak)), **values)
    else:
        yield finding("does_not_fit", phase=phase, error="out of memory", **values)


def _warnings(heard: list[WarningMessage]) -> Iterator[Finding]:
    texts = dict.fromkeys(
        (each.category.__name__, " ".join(str(each.message).split()))
        for each in heard
        if not any(words in str(each.message) for words in MESSAGES_OF_FAKES)
    )
    for name, text in list(texts)[:MOST_WARNINGS]:
        yield finding("library_warns", where=name, text=text)
