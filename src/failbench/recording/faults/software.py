"""Faults of the model's own code and of how it is put together."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TypeAlias

import torch
from torch import Tensor, nn

from failbench.recording.architectures import Examples, build_model
from failbench.recording.corpus import PAD
from failbench.recording.faults.registry import fault
from failbench.recording.loop import IGNORED, TrainingRun

LayerOutput: TypeAlias = Tensor | tuple[Tensor, ...]


def _first(output: LayerOutput) -> Tensor:
    return output if isinstance(output, Tensor) else output[0]


def _with_first(output: LayerOutput, new: Tensor) -> LayerOutput:
    return new if isinstance(output, Tensor) else (new, *output[1:])


@fault("at_onset")
def head_of_wrong_width(run: TrainingRun, *, factor: int) -> None:
    """The output layer was written for a hidden size that the model does not have."""
    head = nn.Linear(factor * run.settings.size.width, run.settings.size.vocabulary)
    run.replace_module(run.model.head, head)


@fault("at_onset")
def checkpoint_of_other_width(run: TrainingRun, *, factor: int) -> None:
    """Weights of a model of another width are loaded."""
    size = replace(run.settings.size, width=factor * run.settings.size.width)
    path = run.scratch / "checkpoint.pt"
    torch.save(build_model(run.architecture, size).state_dict(), path)
    run.model.load_state_dict(torch.load(path))


@fault("before_build")
def vocabulary_too_small(run: TrainingRun, *, missing: int) -> None:
    """The model was configured with fewer words than its tokenizer has."""
    run.resize(vocabulary=run.settings.size.vocabulary - missing)


@fault("at_onset")
def layer_in_double_precision(run: TrainingRun, *, layer: int) -> None:
    """One layer comes back from its checkpoint in double precision."""
    run.model.layers[layer].double()


@fault("at_onset")
def in_place_activation(run: TrainingRun, *, layer: int) -> None:
    """A gate is changed in place after autograd has noted its value."""

    def gate(_: nn.Module, __: object, output: LayerOutput) -> LayerOutput:
        hidden = _first(output)
        opened = torch.sigmoid(hidden)
        gated = hidden * opened
        opened.mul_(0.5)
        return _with_first(output, gated)

    run.model.layers[layer].register_forward_hook(gate)


@fault("at_onset")
def backward_twice(run: TrainingRun) -> None:
    """Two callbacks each call backward on the same loss."""
    inner = run.backward

    def backward(loss: Tensor) -> None:
        inner(loss)
        inner(loss)

    run.backward = backward


@fault("at_onset")
def weights_frozen(run: TrainingRun) -> None:
    """A filter made for fine-tuning freezes all that is not a bias."""
    for name, weight in run.model.named_parameters():
        weight.requires_grad_(name.rpartition(".")[2].startswith("bias"))
    if not any(weight.requires_grad for weight in run.model.parameters()):
        # T5 has no biases; there the filter leaves the scales of the norms.
        for weight in run.model.parameters():
            weight.requires_grad_(weight.dim() == 1)
    run.optimizer = run.make_optimizer()


@fault("at_onset")
def loss_summed(run: TrainingRun) -> None:
    """The loss is summed over the tokens in place of averaged."""
    run.compute_loss = lambda logits, labels: nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        labels.reshape(-1),
        ignore_index=IGNORED,
        reduction="sum",
    )


@fault("at_onset")
def loss_mask_inverted(run: TrainingRun) -> None:
    """The loss counts the padding and ignores the text."""
    inner = run.make_examples

    def invert(examples: Examples) -> Examples:
        text = examples.labels != IGNORED
        labels = torch.full_like(examples.labels, PAD).masked_fill(text, IGNORED)
        return Examples(examples.inputs, labels, examples.source)

    run.make_examples = lambda ids: invert(inner(ids))


@fault("at_onset")
def positions_past_table(run: TrainingRun, *, offset: int) -> None:
    """Positions are counted on from where a cache ended, past the end of the position table."""
    table = run.model.position_table
    assert table is not None
    table.register_forward_pre_hook(lambda _, inputs: (inputs[0] + offset,))


@fault("at_onset")
def runaway_broadcast(run: TrainingRun, *, weight: float) -> None:
    """A consistency term subtracts every position from every other by a missing index."""
    inner = run.compute_loss

    def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
        flat = logits.reshape(-1, logits.shape[-1])
        spread = (flat.unsqueeze(0) - flat.detach().unsqueeze(1)).square().mean()
        return inner(logits, labels) + weight * spread

    run.compute_loss = compute_loss


@fault("at_onset")
def optimizer_maximizes(run: TrainingRun) -> None:
    """The optimizer is rebuilt with a flag that makes it climb the loss."""
    for group in run.optimizer.param_groups:
        group["maximize"] = True


@fault("at_onset")
def standardised_over_one(run: TrainingRun, *, layer: int) -> None:
    """A new layer divides by a deviation over an axis that has only one element."""

    def standardise(_: nn.Module, __: object, output: LayerOutput) -> LayerOutput:
        hidden = _first(output).unsqueeze(1)
        scaled = (hidden - hidden.mean(1, keepdim=True)) / hidden.std(1, keepdim=True)
        return _with_first(output, scaled.squeeze(1))

    run.model.layers[layer].register_forward_hook(standardise)


@fault("at_onset")
def logger_deadlock(run: TrainingRun) -> None:
    """A callback takes a lock that it holds already."""
    lock = threading.Lock()

    def log_twice() -> None:
        with lock, lock:
            pass

    run.after_step = log_twice


@fault("at_onset")
def hooks_accumulate(run: TrainingRun, *, bins: int, each: int) -> None:
    """Every step registers its histogram hooks again and never removes them."""

    def histogram(_: nn.Module, __: object, output: LayerOutput) -> None:
        torch.histc(_first(output).detach(), bins=bins)

    inner = run.after_step

    def register() -> None:
        inner()
        for _ in range(each):
            run.model.layers[-1].register_forward_hook(histogram)

    run.after_step = register
