"""Bugs of loops and of what they train: gradients, optimizers, types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn

from failbench.neighbours.outside_list.material import LEARNING_RATE, LanguageModel, adam, train
from failbench.neighbours.outside_list.programs import Run, program

FREEZING_STEP: Final = 20
"""The step in which the first block is frozen, and so has no gradient."""


@program("stackoverflow-60335387")
def gradients_never_cleared(run: Run) -> None:
    """The loop never calls ``zero_grad``."""
    model = LanguageModel()
    train(run, model, adam(model), clear=not run.faulty)


@program("pytorch-forum-84911")
def nearly_all_frozen(run: Run) -> None:
    """All weights but those of normalisations are frozen, and the optimizer is given them all."""
    model = LanguageModel()
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not run.faulty or "norm" in name
    train(run, model, adam(model))


class TracedAdam(torch.optim.Adam):
    """Adam whose step was compiled, and may not be compiled again for gradients that come back."""

    def __init__(self, parameters: Any, learning_rate: float, *, stale: bool) -> None:
        super().__init__(parameters, learning_rate)
        self._stale = stale
        self._left_out: set[Any] = set()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make a step with the parameters that the step was traced with."""
        parameters = [each for group in self.param_groups for each in group["params"]]
        if self._stale:
            self._left_out |= {each for each in parameters if each.grad is None}
        kept = [(each, each.grad) for each in self._left_out]
        for parameter, _ in kept:
            parameter.grad = None
        result = super().step(closure)
        for parameter, gradient in kept:
            parameter.grad = gradient
        return result


@program("pytorch-115607")
def compiled_step_leaves_out(run: Run) -> None:
    """A block is frozen for one step, and the compiled step goes on without it."""
    model = LanguageModel()

    def freeze(number: int) -> None:
        if number == FREEZING_STEP:
            for parameter in model.blocks[0].parameters():
                parameter.grad = None

    optimizer = TracedAdam(model.parameters(), LEARNING_RATE, stale=run.faulty)
    train(run, model, optimizer, before_update=freeze)


class Compiled(nn.Module):
    """A compiled model."""

    def __init__(self, model: nn.Module, *, ignores_autocast: bool) -> None:
        super().__init__()
        self.model = model
        self._ignores_autocast = ignores_autocast

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids to logits."""
        if not self._ignores_autocast:
            return self.model(ids)
        with torch.autocast("cpu", enabled=False):
            return self.model(ids)


@program("lightning-thunder-725")
def autocast_ignored(run: Run) -> None:
    """A compiled model runs in single precision although it is called under autocast."""
    model = Compiled(LanguageModel(), ignores_autocast=run.faulty)
    train(run, model, adam(model), autocast=True)
