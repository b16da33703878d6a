"""Faults of optimization: numbers and schedules with which training cannot work."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from failbench.recording.faults.registry import fault
from failbench.recording.loop import TrainingRun


def _gradients(run: TrainingRun) -> list[Tensor]:
    return [one.grad for one in run.model.parameters() if one.grad is not None]


def _after_backward(run: TrainingRun, change: Callable[[], None]) -> None:
    inner = run.backward

    def backward(loss: Tensor) -> None:
        inner(loss)
        change()

    run.backward = backward


@fault("at_onset")
def learning_rate_scaled(run: TrainingRun, *, factor: float) -> None:
    """The learning rate is a multiple of the one that works."""
    run.settings.learning_rate *= factor


@fault("at_onset")
def schedule_in_wrong_units(run: TrainingRun, *, share: float) -> None:
    """The schedule ends after a share of the run, because its length was given in other units."""
    healthy, end = run.schedule, share * run.nominal.planned_steps
    run.schedule = lambda step: healthy(step) * max(0.0, 1 - step / end)


@fault("at_onset")
def plateau_scheduler_without_patience(run: TrainingRun, *, factor: float) -> None:
    """PyTorch's plateau scheduler watches a noisy loss with no patience, and cuts at each rise."""
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        run.optimizer, factor=factor, patience=0, threshold=0.0
    )
    healthy, inner = run.schedule, run.after_step
    share = 1.0

    def watch() -> None:
        nonlocal share
        inner()
        before = run.optimizer.param_groups[0]["lr"]
        scheduler.step(run.row.loss)
        share *= run.optimizer.param_groups[0]["lr"] / before

    run.after_step = watch
    run.schedule = lambda step: max(1e-12, healthy(step) * share)


@fault("at_onset")
def cyclic_learning_rate(run: TrainingRun, *, peak: float, period: int) -> None:
    """A cyclic schedule whose peaks are a multiple of the rate that works."""
    healthy, first = run.schedule, run.step

    def schedule(step: int) -> float:
        phase = (step - first) % period / period
        return healthy(step) * peak ** (1 - abs(2 * phase - 1))

    run.schedule = schedule


@fault("at_onset")
def one_cycle_overrun(run: TrainingRun, *, steps: int) -> None:
    """PyTorch's one-cycle schedule was made for fewer steps than the run has."""
    rate = run.schedule(run.step)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        run.optimizer, max_lr=rate, total_steps=steps, cycle_momentum=False, div_factor=2.0
    )
    inner = run.after_step

    def advance() -> None:
        inner()
        scheduler.step()

    run.after_step = advance
    run.schedule = lambda _: float(scheduler.get_last_lr()[0])


@fault("at_onset")
def saturating_activations(run: TrainingRun, *, shift: float) -> None:
    """Every layer ends in a sigmoid far in its flat part, which passes next to no gradient."""

    def saturate(
        _: nn.Module, __: object, output: Tensor | tuple[Tensor, ...]
    ) -> Tensor | tuple[Tensor, ...]:
        if isinstance(output, Tensor):
            return torch.sigmoid(output + shift)
        return (torch.sigmoid(output[0] + shift), *output[1:])

    for layer in run.model.layers:
        layer.register_forward_hook(saturate)


@fault("at_onset")
def initial_weights_scaled(run: TrainingRun, *, factor: float) -> None:
    """The weights are initialised with a multiple of the usual deviation."""
    with torch.no_grad():
        for weight in run.model.parameters():
            weight.mul_(factor)


@fault("at_onset")
def initial_weights_constant(run: TrainingRun, *, value: float) -> None:
    """All weight matrices start as one constant, so that no two units ever differ."""
    with torch.no_grad():
        for weight in run.model.parameters():
            if weight.dim() > 1:
                weight.fill_(value)


@fault("at_onset")
def optimizer_state_corrupted(run: TrainingRun, *, factor: float) -> None:
    """The optimizer resumes with its second moments (or its momentum) off by a power of ten."""
    for state in run.optimizer.state.values():
        if "exp_avg_sq" in state:
            state["exp_avg_sq"].div_(factor**2)
        elif state.get("momentum_buffer") is not None:
            state["momentum_buffer"].mul_(factor)


@fault("at_onset")
def momentum_too_high(run: TrainingRun, *, momentum: float) -> None:
    """The optimizer hardly ever forgets an old gradient."""
    for group in run.optimizer.param_groups:
        if "betas" in group:
            group["betas"] = (momentum, group["betas"][1])
        else:
            group["momentum"] = momentum


@fault("at_onset")
def weight_decay_too_strong(run: TrainingRun, *, share: float) -> None:
    """Weight decay takes a share of every weight in every step."""
    inner = run.update

    def update() -> None:
        for group in run.optimizer.param_groups:
            group["weight_decay"] = share / group["lr"]
        inner()

    run.update = update


@fault("at_onset")
def half_precision_gradients(run: TrainingRun, *, scale: float) -> None:
    """Gradients in half precision under a loss scale that overflows or leaves nothing."""

    def through_half() -> None:
        for gradient in _gradients(run):
            gradient.copy_((gradient * scale).half().float() / scale)

    _after_backward(run, through_half)


@fault("at_onset")
def guarded_loss_scale_overflows(run: TrainingRun, *, growth: float, every: int) -> None:
    """The loss scale grows without end; clipping refuses the gradients that overflow at last."""
    first = run.step

    def through_half() -> None:
        scale = growth ** ((run.step - first) // every)
        for gradient in _gradients(run):
            gradient.copy_((gradient * scale).half().float() / scale)

    def clip(limit: float | None) -> float:
        return float(
            nn.utils.clip_grad_norm_(
                run.model.parameters(),
                math.inf if limit is None else limit,
                error_if_nonfinite=True,
            )
        )

    _after_backward(run, through_half)
    run.clip_gradients = clip
