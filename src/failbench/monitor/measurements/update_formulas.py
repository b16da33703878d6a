"""The published updates by PyTorch's documentation, in double precision; none for subclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

Update = Callable[[Tensor, Tensor, Mapping[str, Tensor], Tensor, Mapping[str, Any]], Tensor]
"""New parameters from: parameters; gradients; state before; step, from 1; hyper-parameters."""


def sgd(
    parameters: Tensor,
    gradients: Tensor,
    state: Mapping[str, Tensor],
    steps: Tensor,  # noqa: ARG001 - the same for all
    group: Mapping[str, Any],
) -> Tensor:
    """SGD (https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html)."""
    slope = -gradients if group["maximize"] else gradients
    slope = slope + float(group["weight_decay"]) * parameters
    momentum = float(group["momentum"])
    if momentum:
        buffer = state.get("momentum_buffer")
        if buffer is None:  # the first step is not dampened
            buffer = slope
        else:
            buffer = momentum * buffer + (1 - float(group["dampening"])) * slope
        slope = slope + momentum * buffer if group["nesterov"] else buffer
    return parameters - float(group["lr"]) * slope


def adam(
    parameters: Tensor,
    gradients: Tensor,
    state: Mapping[str, Tensor],
    steps: Tensor,
    group: Mapping[str, Any],
) -> Tensor:
    """Adam, and AdamW where weight decay is decoupled, as ``torch.optim`` documents them."""
    rate, decay, epsilon = float(group["lr"]), float(group["weight_decay"]), float(group["eps"])
    first_beta, second_beta = (float(beta) for beta in group["betas"])
    none = torch.zeros_like(parameters)
    slope = -gradients if group["maximize"] else gradients
    if group["decoupled_weight_decay"]:
        parameters = parameters * (1 - rate * decay)
    else:
        slope = slope + decay * parameters
    first = first_beta * state.get("exp_avg", none) + (1 - first_beta) * slope
    second = second_beta * state.get("exp_avg_sq", none) + (1 - second_beta) * slope**2
    if group["amsgrad"]:
        second = torch.maximum(state.get("max_exp_avg_sq", none), second)
    first = first / (1 - first_beta**steps)
    second = second / (1 - second_beta**steps)
    return parameters - rate * first / (second.sqrt() + epsilon)


@dataclass(frozen=True)
class Formula:
    """How an optimizer steps."""

    update: Update
    state: tuple[str, ...]


_ADAM: Final = Formula(adam, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"))

FORMULAS: Final[Mapping[type, Formula]] = {  # by exactly the class of the optimizer
    torch.optim.SGD: Formula(sgd, ("momentum_buffer",)),
    torch.optim.Adam: _ADAM,
    torch.optim.AdamW: _ADAM,
}
