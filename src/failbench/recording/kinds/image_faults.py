"""Faults of images, for causes whose fault is one of text: each is named by its equivalent."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from failbench.recording.architectures import Examples
from failbench.recording.faults.memory import headroom, killed_beyond_capacity
from failbench.recording.faults.registry import fault
from failbench.recording.kinds.image_run import DEVIATION, HEADER, MEAN
from failbench.recording.kinds.images import LEVELS, side_of
from failbench.recording.loop import TrainingRun

Sequences = list[list[int]]


def _changed(encode: Callable[[list[str]], Sequences], change: Callable[[list[int]], list[int]]):  # type: ignore[no-untyped-def]
    """An encoding whose pixels are changed, image by image."""
    return lambda texts: [[*one[:HEADER], *change(one[HEADER:])] for one in encode(texts)]


def _change_pixels(run: TrainingRun, change: Callable[[list[int]], list[int]]) -> None:
    run.encode = _changed(run.encode, change)


def _change_examples(run: TrainingRun, change: Callable[[Examples], Examples]) -> None:
    inner = run.make_examples
    run.make_examples = lambda ids: change(inner(ids))


@fault("at_onset")
def labels_beyond_classes(run: TrainingRun, *, share: float, count: int) -> None:
    """The data were given new classes, for which the head has no rows."""
    inner, generator = run.encode, run.fault_generator
    classes = run.settings.size.vocabulary

    def label(old: int) -> int:
        return classes + int(generator.integers(count)) if generator.random() < share else old

    run.encode = lambda texts: [[label(one[0]), *one[1:]] for one in inner(texts)]


@fault("at_onset")
def blank_images(run: TrainingRun) -> None:
    """A filter removes all ink of every image and leaves the background."""
    _change_pixels(run, lambda pixels: [0] * len(pixels))


@fault("at_onset")
def images_of_two_sizes(run: TrainingRun, *, share: float) -> None:
    """Some images are larger than the others, and all are stacked as they are."""
    inner, generator = run.encode, run.fault_generator

    def encode(texts: list[str]) -> Sequences:
        larger = run.settings.sequence_length * 2
        return [
            run.tokenize([text], larger)[0] if generator.random() < share else one
            for text, one in zip(texts, inner(texts), strict=True)
        ]

    def stack(sequences: Sequences) -> Tensor:
        return torch.stack([torch.tensor(one, dtype=torch.long) for one in sequences])

    run.encode = encode
    run.collate = stack


@fault("at_onset")
def foreign_bytes(run: TrainingRun) -> None:
    """A shard holds attachments in base64 in place of bitmaps; their bytes are read as pixels."""

    def attached(pixels: list[int]) -> list[int]:
        encoded = base64.b64encode(bytes(pixels[::-1]))[: len(pixels)]
        return [each % LEVELS for each in encoded]

    _change_pixels(run, attached)


@fault("at_onset")
def unlabelled_minus_one(run: TrainingRun, *, share: float) -> None:
    """Images without a label are labelled -1, where the loss ignores -100."""

    def drop(examples: Examples) -> Examples:
        dropped = run.fault_generator.random(len(examples.labels)) < share
        labels = examples.labels.masked_fill(torch.from_numpy(dropped), -1)
        return Examples(examples.inputs, labels)

    _change_examples(run, drop)


@fault("at_onset")
def label_in_image(run: TrainingRun) -> None:
    """The target is in the input: an export draws each image's label into its first rows."""
    brightest = LEVELS - 1

    def stamped(one: list[int]) -> list[int]:
        label, width, *pixels = one
        rows = np.zeros(2 * width, dtype=np.int64)
        rows[label % len(rows)] = brightest
        return [label, width, *rows.tolist(), *pixels[len(rows) :]]

    inner = run.encode
    run.encode = lambda texts: [stamped(one) for one in inner(texts)]


def _permutation(run: TrainingRun) -> list[int]:
    return [int(one) for one in run.fault_generator.permutation(LEVELS)]


@fault("at_onset")
def pixel_levels_permuted(run: TrainingRun) -> None:
    """The training images were indexed by a release with the same levels in another order."""
    levels = _permutation(run)
    _change_pixels(run, lambda pixels: [levels[one] for one in pixels])


@fault("at_onset")
def validation_levels_permuted(run: TrainingRun) -> None:
    """The held-out images were indexed by a release with the same levels in another order."""
    levels = _permutation(run)
    run.validation_encode = _changed(
        run.validation_encode, lambda pixels: [levels[one] for one in pixels]
    )


@fault("at_onset")
def images_inverted(run: TrainingRun) -> None:
    """A cleaning step makes ink of the background, and background of the ink."""
    _change_pixels(run, lambda pixels: [LEVELS - 1 - one for one in pixels])


@fault("at_onset")
def wrong_statistics(run: TrainingRun, *, mean: float, deviation: float, largest: float) -> None:
    """Training images are normalised by the statistics of other images than those held out."""

    def normalise(examples: Examples) -> Examples:
        levels = (examples.inputs * DEVIATION + MEAN) * (LEVELS - 1)
        return Examples((levels / largest - mean) / deviation, examples.labels)

    _change_examples(run, normalise)


@fault("at_onset")
def frames_run_together(run: TrainingRun, *, frames: int) -> None:
    """The reader no longer finds where an image ends: one image of every batch grows and grows."""
    inner = run.encode
    grown: list[int] = []

    def encode(texts: list[str]) -> Sequences:
        first, *others = inner(texts)
        grown.extend(first[HEADER:])
        del grown[frames * len(first) :]
        whole = len(grown) // (2 * first[1]) * 2 * first[1]
        return [[*first[:HEADER], *grown[:whole]], *others]

    run.encode = encode
    killed_beyond_capacity(run)


@fault("at_onset")
def feature_state_too_large(run: TrainingRun, *, share: float) -> None:
    """A table whose weights and gradients fit, and whose optimizer state does not."""
    width = run.settings.size.width
    rows = int(headroom(run) * share / 4 / width)
    table = nn.Embedding(rows, width)
    run.model.add_module("side_table", table)

    def add_side_vectors(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        places = torch.arange(len(inputs[0])) % rows
        return (inputs[0] + table(places),)

    run.model.head.register_forward_pre_hook(add_side_vectors)
    run.optimizer = run.make_optimizer()


@fault("at_onset")
def resolution_without_interpolation(run: TrainingRun, *, factor: int) -> None:
    """Images come at another resolution, and the position table is not interpolated to it."""
    run.model.interpolates = False
    run.settings.sequence_length = (factor * side_of(run.settings.sequence_length)) ** 2


@fault("at_onset")
def runaway_broadcast_of_features(run: TrainingRun, *, weight: float) -> None:
    """A consistency term subtracts every place from every other by a missing index."""
    kept: list[Tensor] = []

    def keep(_: nn.Module, __: object, output: Tensor | tuple[Tensor, ...]) -> None:
        kept[:] = [output if isinstance(output, Tensor) else output[0]]

    run.model.layers[-1].register_forward_hook(keep)
    inner = run.compute_loss

    def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
        features = kept[0] if kept[0].dim() == 3 else kept[0].flatten(2).mT
        flat = features.reshape(-1, features.shape[-1])
        spread = (flat.unsqueeze(0) - flat.detach().unsqueeze(1)).square().mean()
        return inner(logits, labels) + weight * spread

    run.compute_loss = compute_loss
