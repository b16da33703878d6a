"""Faults of memory: allocations that the capacity does not allow."""

from __future__ import annotations

import copy
import mmap
import os
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from failbench.recording.architectures import build_model
from failbench.recording.faults.registry import fault
from failbench.recording.loop import TrainingRun

_MEBIBYTE = 2**20
_STAGED = 8 * _MEBIBYTE
"""Bytes to stage a batch in."""


def headroom(run: TrainingRun) -> int:
    """Bytes between the healthy peak of this configuration and its capacity."""
    return int(run.capacity_bytes * (1 - 1 / run.nominal.capacity_multiple))


def after_each_step(run: TrainingRun, action: Callable[[], None]) -> None:
    """Do something more at the end of every step."""
    inner = run.after_step

    def both() -> None:
        inner()
        action()

    run.after_step = both


def killed_beyond_capacity(run: TrainingRun, others: Callable[[], int] = lambda: 0) -> None:
    """Put the run under a manager that kills; ``others`` are bytes of other processes."""
    run.meter.lift()

    def report() -> None:
        run.hold("memory_manager", run.row.memory_bytes + others())

    run.between_steps = report


@fault("at_onset")
def batch_too_large(run: TrainingRun, *, factor: int) -> None:
    """The batch has many times the sequences that fit."""
    run.settings.batch_size *= factor


@fault("at_onset")
def batch_ramp(run: TrainingRun, *, every: int) -> None:
    """A batch-size schedule doubles the batch without looking at memory."""
    first = run.step

    def ramp() -> None:
        if (run.step - first) % every == every - 1:
            run.settings.batch_size *= 2

    after_each_step(run, ramp)


@fault("at_onset")
def long_sequences(run: TrainingRun, *, length: int) -> None:
    """The training data turn to documents of many times the usual length."""
    run.settings.sequence_length = length


@fault("at_onset")
def context_curriculum(run: TrainingRun, *, tokens: int, every: int, longest: int) -> None:
    """A curriculum lengthens the context again and again."""
    first = run.step

    def lengthen() -> None:
        if (run.step - first) % every == every - 1:
            run.settings.sequence_length = min(longest, run.settings.sequence_length + tokens)

    after_each_step(run, lengthen)


@fault("at_onset")
def optimizer_state_too_large(run: TrainingRun, *, share: float) -> None:
    """A table whose weights and gradients fit, and whose optimizer state does not."""
    width = run.settings.size.width
    rows = int(headroom(run) * share / 4 / width)
    table = nn.Embedding(rows, width)
    run.model.add_module("side_table", table)

    def add_side_vectors(_: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
        return output + table(inputs[0] % rows)

    tokens = run.model.token_embedding.weight
    for module in run.model.modules():  # T5 has several around one table
        if isinstance(module, nn.Embedding) and module.weight is tokens:
            module.register_forward_hook(add_side_vectors)
    run.optimizer = run.make_optimizer()


@fault("before_build")
def vocabulary_too_large(run: TrainingRun, *, vocabulary: int) -> None:
    """The output layer has a row for each of very many words."""
    run.resize(vocabulary=vocabulary)


@fault("at_onset")
def loss_graph_retained(run: TrainingRun, *, every: int) -> None:
    """The loss is summed for the log with its graph, which is kept for a later backward pass."""
    kept: list[Tensor] = []

    def backward(loss: Tensor) -> None:
        keep = run.step % every == 0
        loss.backward(retain_graph=keep)
        if keep:
            kept.append(loss)

    run.backward = backward


@fault("at_onset")
def hidden_states_cached(run: TrainingRun) -> None:
    """The output of every layer and of the head is appended to a cache that nobody empties."""
    cache: list[Tensor] = []

    def remember(_: nn.Module, __: object, output: Tensor | tuple[Tensor, ...]) -> None:
        hidden = output if isinstance(output, Tensor) else output[0]
        cache.append(hidden.detach().clone())

    for layer in (*run.model.layers, run.model.head):
        layer.register_forward_hook(remember)


@fault("at_onset")
def gradient_history(run: TrainingRun, *, steps: int) -> None:
    """Gradients are appended to a history for a plot; it fills the capacity in about ``steps``."""
    history: list[Tensor] = []
    elements = headroom(run) // 4 // steps

    def append() -> None:
        flat = torch.cat(
            [one.grad.flatten() for one in run.model.parameters() if one.grad is not None]
        )
        history.append(flat[:elements].clone())

    after_each_step(run, append)


@fault("at_onset")
def evaluation_keeps_graph(run: TrainingRun) -> None:
    """Evaluation runs without ``no_grad`` and its losses are kept as tensors."""
    losses: list[Tensor] = []

    def validate() -> float:
        run.model.eval()
        losses.append(run.validation_loss(run.validation_texts))
        run.model.train()
        return losses[-1].item()

    run.validate = validate


@fault("at_onset")
def evaluation_batch_too_large(run: TrainingRun, *, factor: int) -> None:
    """The whole evaluation set goes through the model as one batch."""
    run.validation_texts = run.validation_texts * factor


@fault("at_onset")
def checkpoint_copies(run: TrainingRun, *, every: int) -> None:
    """Every checkpoint is copied in memory before it is written, and the copies stay."""
    copies: list[object] = []

    def copy_state() -> None:
        if run.step % every == 0:
            copies.append(copy.deepcopy((run.model.state_dict(), run.optimizer.state_dict())))

    after_each_step(run, copy_state)


@fault("at_onset")
def weight_snapshots(run: TrainingRun, *, every: int) -> None:
    """Weight averaging keeps all the snapshots it averages over."""
    snapshots: list[list[Tensor]] = []

    def take() -> None:
        if run.step % every == 0:
            snapshots.append([one.detach().clone() for one in run.model.parameters()])

    after_each_step(run, take)


@fault("at_onset")
def fragmented_heap(run: TrainingRun, *, steps: int) -> None:
    """Small blocks of growing size leave holes that none fits; half are freed at once."""
    smallest, growth = 32_768, 512  # bytes; below the threshold from which blocks are mapped
    pairs = max(1, headroom(run) // steps // (2 * smallest))
    kept: list[Tensor] = []
    size = smallest

    def allocate() -> None:
        nonlocal size
        blocks = [torch.ones(size // 4) for _ in range(2 * pairs)]
        kept.extend(blocks[::2])
        size += growth

    after_each_step(run, allocate)


@fault("at_onset")
def second_model_loaded(run: TrainingRun, *, wider: int) -> None:
    """A much larger teacher is loaded into the same memory."""
    size = replace(run.settings.size, width=wider * run.settings.size.width)
    run.model.teacher = [build_model(run.architecture, size)]


@fault("at_onset")
def neighbour_takes_memory(run: TrainingRun, *, steps: int) -> None:
    """Another process takes the memory, until there is no room to stage the next batch in."""
    first, share = run.step, headroom(run) / steps

    def shrink() -> None:
        taken = int((run.step - first + 1) * share)
        run.meter.limit(max(_MEBIBYTE, run.capacity_bytes - taken))
        # Fresh pages: the heap would hand out again what the last step has freed, and never fail.
        mmap.mmap(-1, _STAGED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    after_each_step(run, shrink)


@fault("at_onset")
def neighbour_draws_the_killer(run: TrainingRun, *, steps: int) -> None:
    """Another process takes the memory, and the memory manager kills this one."""
    first, share = run.step, headroom(run) / steps
    killed_beyond_capacity(run, others=lambda: int((run.step - first + 1) * share))


@fault("at_onset")
def prefetch_without_bound(run: TrainingRun, *, batches: int) -> None:
    """The prefetcher reads several batches for each one that is used, padded to the longest."""
    queue: list[Tensor] = []
    longest = run.settings.size.positions

    def prefetch() -> None:
        shape = (run.settings.batch_size, longest)
        queue.extend(torch.zeros(shape, dtype=torch.long) for _ in range(batches))

    after_each_step(run, prefetch)
    killed_beyond_capacity(run)


@fault("at_onset")
def thrashing(run: TrainingRun, *, share: float, passes: int) -> None:
    """A working set near the capacity is written to disk and read back in every step."""
    buffer = torch.ones(int(headroom(run) * share) // 4)
    view = memoryview(buffer.numpy()).cast("B")
    path = run.scratch / "swap"

    def swap() -> None:
        for _ in range(passes):
            with path.open("wb") as out:
                out.write(view)
                os.fsync(out.fileno())
            with path.open("rb") as back:
                back.readinto(view)

    after_each_step(run, swap)


@fault("at_onset")
def spill_file_grows(run: TrainingRun, *, step_bytes: int) -> None:
    """Activations are spilled to disk; every step reads back, twice, all that was ever spilled."""
    path = run.scratch / "spill"
    block = bytearray(2**18)

    def spill() -> None:
        with path.open("ab") as out:
            for _ in range(step_bytes // len(block)):
                out.write(block)
            os.fsync(out.fileno())
        for _ in range(2):  # for the backward pass and for the update
            with path.open("rb") as back:
                while back.readinto(block):
                    pass

    after_each_step(run, spill)
