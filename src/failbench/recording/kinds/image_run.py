"""The training loop on images: parts that read and describe them; all else is the recorder's."""

# An image is a sequence like any other, ``label, width, level, level, ...``, until examples are
# made of a batch: so faults that draw, keep, cut or count sequences are the same for images.

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from failbench.recording.architectures import Examples
from failbench.recording.kinds.images import LEVELS, read_document, resized, side_of, turned
from failbench.recording.kinds.own_time import OwnTimeRun
from failbench.recording.loop import SPIKE_STEPS

HEADER = 2  # label and width, before the pixels
MEAN, DEVIATION = 0.305, 0.376  # of levels of grey from 0 to 1, over all images


class ImageRun(OwnTimeRun):
    """A run whose documents are images and whose vocabulary are their classes."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.resize(positions=self.nominal.sequence_length)

    def _passages(
        self, documents: tuple[str, ...], count: int, generator: np.random.Generator
    ) -> list[str]:
        if documents is self.corpus.validation:
            return list(documents)  # all of it: 24 of them tell little
        return [documents[generator.integers(len(documents))] for _ in range(count)]

    def _draw_texts(self, count: int) -> list[str]:
        texts = self._passages(self.corpus.training, count, self.data_generator)
        spike = self.nominal.distractor == "loss_spike"
        if spike and 0 <= self.step - self.nominal.distractor_step < SPIKE_STEPS:
            return [turned(text) for text in texts]
        return texts

    def tokenize(self, texts: list[str], longest: int) -> list[list[int]]:
        """Label, width and levels of each image, at the resolution of so many pixels."""
        side = side_of(longest)
        sequences = []
        for text in texts:
            label, image = read_document(text)
            sequences.append([label, side, *resized(image, side).ravel().tolist()])
        return sequences

    def _describe(self, sequences: list[list[int]]) -> None:
        """Pixels in the place of tokens; those out of range or of blank images are unknown."""
        row = self.row
        images = [np.asarray(one[HEADER:], dtype=np.int64) for one in sequences]
        covered = 0
        for image in images:
            if image.size and image.min() != image.max():
                covered += int(((image >= 0) & (image < LEVELS)).sum())
        pixels = np.concatenate([np.zeros(0, dtype=np.int64), *images])
        row.sequences = len(images)
        row.tokens = int(pixels.size)
        row.unknown_tokens = int(pixels.size) - covered
        row.covered_tokens = covered
        row.max_token_id = int(pixels.max()) if pixels.size else None
        row.mean_length = float(np.mean([image.size for image in images])) if images else None
        row.max_length = max((image.size for image in images), default=None)

    def _make_examples(self, ids: Tensor) -> Examples:
        labels, width = ids[:, 0].clone(), int(ids[0, 1])
        levels = ids[:, HEADER:].reshape(len(ids), 1, -1, width)
        return Examples(normalised(levels.to(torch.float32)), labels).to(self.device)


def normalised(levels: Tensor) -> Tensor:
    """Levels of grey with a mean of zero and a deviation of one."""
    return (levels / (LEVELS - 1) - MEAN) / DEVIATION
