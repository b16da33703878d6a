"""Bugs of models: what they do when they are built, evaluated, or told to train."""

from __future__ import annotations

from typing import Final, Self

import torch
from torch import Tensor, nn
from torch.nn.utils import spectral_norm

from failbench.neighbours.outside_list.material import (
    LAYERS,
    Block,
    LanguageModel,
    adam,
    batches,
    train,
)
from failbench.neighbours.outside_list.programs import Run, program

EVALUATE_EVERY: Final = 20
INITIAL_DEVIATION: Final = 0.02
ONSET: Final = 20
LOST: Final = 0.2
"""Share of the transfers that are lost from that step on."""


@program("pytorch-51800")
def evaluated_before_trained(run: Run) -> None:
    """Layers with spectral norm are evaluated before their first forward pass in training."""
    model = LanguageModel()
    for layer in [each for each in model.modules() if isinstance(each, nn.Linear)]:
        spectral_norm(layer)
    if not run.faulty:
        with torch.no_grad():
            model(next(iter(batches()))[:, :-1])
    train(run, model, adam(model), evaluate_every=EVALUATE_EVERY)


class StagedModel(LanguageModel):
    """A language model whose blocks are stages, the first of which may be frozen.

    It freezes them where it is told to train, and nowhere else.
    """

    def __init__(self, frozen_stages: int) -> None:
        super().__init__()
        self.frozen_stages = frozen_stages

    def train(self, mode: bool = True) -> Self:
        """Set the mode, and freeze the first stages."""
        super().train(mode)
        for stage in self.blocks[: self.frozen_stages]:
            stage.requires_grad_(False)
        return self


@program("mmpretrain-702")
def stages_not_frozen(run: Run) -> None:
    """Stages are to be frozen, and the loop never tells the model to train."""
    model = StagedModel(frozen_stages=1)
    if not run.faulty:
        model.train()
    train(run, model, adam(model))


@program("transformers-17877")
def initialised_twice(run: Run) -> None:
    """The initialisation of a module reaches parameters that were initialised as its parts' own."""
    model = LanguageModel()

    def initialise(module: nn.Module) -> None:
        for parameter in module.parameters(recurse=run.faulty):
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=INITIAL_DEVIATION)

    model.apply(initialise)
    train(run, model, adam(model))


class Lose(torch.autograd.Function):
    """A transfer that gives zeros to who receives, and sends gradients back as they are."""

    @staticmethod
    def forward(context: object, sent: Tensor) -> Tensor:  # noqa: ARG004
        """What is received."""
        return torch.zeros_like(sent)

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:  # noqa: ARG004
        """What is sent back."""
        return gradient


class Transfer(nn.Module):
    """The transfer of activations from one device to the next."""

    loses = False

    def forward(self, sent: Tensor) -> Tensor:
        """What is received."""
        return Lose.apply(sent) if self.loses else sent


@program("baichuan2-86")
def activations_lost(run: Run) -> None:
    """The second half of a model sometimes receives zeros from the first."""
    transfer = Transfer()
    first, *others = (Block() for _ in range(LAYERS))
    model = LanguageModel([first, transfer, *others])
    lost = torch.rand(1000, generator=torch.Generator().manual_seed(0)) < LOST

    def transmit(number: int) -> None:
        transfer.loses = run.faulty and number >= ONSET and bool(lost[number])

    train(run, model, adam(model), before_forward=transmit)
