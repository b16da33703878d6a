"""Real step: forward, backward and update on a copy of the model, with all its numbers."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from failbench.preflight.calling import Forward, Loss, loss_of, outputs_of
from failbench.preflight.findings import Finding, finding
from failbench.preflight.following import names_of
from failbench.preflight.optimizer_memory import twin_of
from failbench.preflight.raised import raised_finding
from failbench.preflight.tensors import with_tensors


def real_step(
    model: nn.Module,
    optimizer: Optimizer | None,
    loss: Loss | None,
    batch: Any,
    forward: Forward | None,
) -> Iterator[Finding]:
    """What one real step on a copy says; it takes the memory and the time of one."""
    phase = "copying"
    names = names_of({"model": model, "loss": loss})
    try:
        twin, criterion = copy.deepcopy((model, loss))
        names = names_of({"model": twin, "loss": criterion})
        given = with_tensors(batch, lambda each: each.detach().clone())
        phase = "forward pass"
        with torch.enable_grad():
            outputs = outputs_of(twin, given, forward, has_loss=criterion is not None)
            phase = "loss"
            value = loss_of(outputs, given, criterion)
            phase = "backward pass"
            twin.zero_grad(set_to_none=True)
            value.backward()
        if not math.isfinite(value.item()):
            yield finding("real_step_not_finite", values=f"the loss ({value.item()})")
        for name, each in twin.named_parameters():
            if each.grad is not None and not bool(torch.isfinite(each.grad).all()):
                yield finding("real_step_not_finite", where=name, values="the gradient")
                break
        phase = "update"
        if optimizer is not None:
            pairs = zip(model.parameters(), twin.parameters(), strict=True)
            moved = {id(old): new for old, new in pairs}
            stepping = twin_of(optimizer, moved)
            for old, state in optimizer.state.items():
                if id(old) in moved:
                    stepping.state[moved[id(old)]] = copy.deepcopy(state)
            type(optimizer).step(stepping)
    except Exception as error:
        yield raised_finding(error, phase, names)
