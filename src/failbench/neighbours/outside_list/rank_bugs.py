"""Bugs of several processes that train together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import torch
from torch import Tensor, distributed, nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from failbench.neighbours.outside_list import material
from failbench.neighbours.outside_list.material import LanguageModel, Program, Run, adam, train

ONSET: Final = 20
LOST_EVERY: Final = 20
"""Transfers from one that is lost to the next."""
NORM: Final = 0.5
"""To which gradients are clipped."""


def moved_after_wrapping(run: Run) -> None:
    """The model is moved away and back, and so loses the hooks of its wrapper."""
    model = LanguageModel()
    parallel = DistributedDataParallel(model)

    def move(number: int) -> None:
        if run.faulty and number == ONSET:
            model.double()
            model.float()

    train(run, parallel, adam(model), before_forward=move)


def gradients_lost(run: Run) -> None:
    """A rank sometimes receives zeros in place of averaged gradients."""
    model = LanguageModel()
    parallel = DistributedDataParallel(model)
    transfers = count()

    def transmit(group: Any, bucket: Any) -> Any:
        received = allreduce_hook(group, bucket)
        number = next(transfers) - ONSET
        if run.faulty and run.rank == 1 and number >= 0 and number % LOST_EVERY == 0:
            return received.then(lambda future: torch.zeros_like(future.value()))
        return received

    transmit.__annotations__.clear()  # they are compared with types, and are texts here
    parallel.register_comm_hook(None, transmit)
    train(run, parallel, adam(model))


def entered(hidden: Tensor) -> Tensor:
    """What each rank does a part of: the same forwards, gradients added up over ranks."""

    def summed(gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        distributed.all_reduce(gradient)
        return gradient

    hidden = hidden.clone()
    if hidden.requires_grad:
        hidden.register_hook(summed)
    return hidden


class Leave(torch.autograd.Function):
    """The parts of all ranks added up forwards, the same gradient for each."""

    @staticmethod
    def forward(context: object, hidden: Tensor) -> Tensor:  # noqa: ARG004
        """The sum over ranks."""
        hidden = hidden.clone()
        distributed.all_reduce(hidden)
        return hidden

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:  # noqa: ARG004
        """The same."""
        return gradient


class ParallelPerceptron(nn.Module):
    """A perceptron of which each rank holds a part of the units."""

    def __init__(self) -> None:
        super().__init__()
        units = 4 * material.WIDTH // distributed.get_world_size()
        self.rising = nn.Linear(material.WIDTH, units)
        self.falling = nn.Linear(units, material.WIDTH, bias=False)
        # The ranks' parts differ, and all else is the same, as one generator serves both.
        generator = torch.Generator().manual_seed(1 + distributed.get_rank())
        for weight in (self.rising.weight, self.falling.weight):
            nn.init.normal_(weight, std=material.WIDTH**-0.5, generator=generator)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map states of shape (..., WIDTH) to states of that shape."""
        return Leave.apply(self.falling(torch.relu(self.rising(entered(hidden)))))


def normalisations_clipped_on_one_rank(run: Run) -> None:
    """Gradients of replicated normalisations are clipped on the first rank alone."""
    model = LanguageModel([material.Block(ParallelPerceptron()) for _ in range(material.LAYERS)])
    parts = [each for each in model.modules() if isinstance(each, ParallelPerceptron)]
    of_a_rank = {id(parameter) for part in parts for parameter in part.parameters()}

    def clip(_: int) -> None:
        gradients = {name: each.grad for name, each in model.named_parameters()}
        squares = {name: gradient.square().sum() for name, gradient in gradients.items()}
        is_part = {name: id(each) in of_a_rank for name, each in model.named_parameters()}
        total = sum(square for name, square in squares.items() if is_part[name])
        distributed.all_reduce(total)
        total = total + sum(square for name, square in squares.items() if not is_part[name])
        factor = (NORM / total.sqrt()).clamp(max=1)
        for name, gradient in gradients.items():
            if not (run.faulty and run.rank > 0 and "norm" in name):
                gradient.mul_(factor)

    # Ranks of tensor parallelism read the same batches: those of the first.
    train(Run(run.faulty, 0, run.log, run.scratch), model, adam(model), before_update=clip)


PROGRAMS: Final[Mapping[str, Program]] = {
    "pytorch-104336": moved_after_wrapping,
    "pytorch-84803": gradients_lost,
    "deepspeed-1801": normalisations_clipped_on_one_rank,
}
