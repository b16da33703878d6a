"""Bugs of data: what workers draw, and what a processor makes of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from failbench.neighbours.outside_list.material import (
    BLOCK,
    ROWS,
    TOKENS,
    WIDTH,
    LanguageModel,
    Pieces,
    adam,
    monitor_of,
    text,
    train,
)
from failbench.neighbours.outside_list.programs import STEPS, Run, program

WORKERS: Final = 2
PIXELS: Final = 12


class RandomPieces(torch.utils.data.Dataset):
    """Pieces from random places of a text, drawn by a generator of the data set's own."""

    def __init__(self) -> None:
        self.text = text(20_000)
        self.generator = np.random.default_rng(0)

    def __len__(self) -> int:
        return STEPS * ROWS

    def __getitem__(self, place: int) -> Tensor:
        start = int(self.generator.integers(len(self.text) - BLOCK))
        return self.text[start : start + BLOCK + 1]


def seed_worker(worker: int) -> None:
    """Give each worker draws of its own."""
    info = torch.utils.data.get_worker_info()
    info.dataset.generator = np.random.default_rng(worker)


@program("stackoverflow-67180955")
def workers_draw_alike(run: Run) -> None:
    """Each worker has a copy of the same generator."""
    loader = torch.utils.data.DataLoader(
        RandomPieces(),
        ROWS,
        num_workers=WORKERS,
        worker_init_fn=None if run.faulty else seed_worker,
        multiprocessing_context="fork",
    )
    model = LanguageModel()
    train(run, model, adam(model), loader)


class Captions(torch.utils.data.Dataset):
    """Texts, each with an image that tells its first token."""

    def __init__(self) -> None:
        self.pieces = Pieces()
        self.images = torch.randn(TOKENS, PIXELS, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        piece = self.pieces[place]
        return piece, self.images[piece[0]]


class Processor:
    """Makes a batch of rows."""

    def __init__(self, *, images_of_one_row: bool) -> None:
        self._one = images_of_one_row

    def __call__(self, rows: Sequence[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
        """A batch of ``input_ids`` (rows, positions) and ``images`` (rows, images, PIXELS)."""
        images = [[image for _, image in rows]] if self._one else [[image] for _, image in rows]
        return {
            "input_ids": torch.stack([row for (row, _), _ in zip(rows, images, strict=False)]),
            "images": torch.stack([torch.stack(each) for each in images]),
        }


class Captioner(nn.Module):
    """A language model that sees images."""

    def __init__(self) -> None:
        super().__init__()
        self.language = LanguageModel()
        self.images = nn.Linear(PIXELS, WIDTH)

    def forward(self, input_ids: Tensor, images: Tensor) -> Tensor:
        """Logits of shape (rows, positions, TOKENS)."""
        seen = self.images(images).mean(dim=1, keepdim=True)
        language = self.language
        places = language.positions(torch.arange(input_ids.shape[1]))
        hidden = language.blocks(language.tokens(input_ids) + places + seen)
        return language.head(language.norm(hidden))


@program("transformers-34204")
def batch_of_one_row(run: Run) -> None:
    """A processor takes the images of a batch as those of its first row."""
    processor = Processor(images_of_one_row=run.faulty)
    generator = torch.Generator().manual_seed(1)
    loader: Any = torch.utils.data.DataLoader(
        Captions(), ROWS, shuffle=True, generator=generator, collate_fn=processor
    )
    model = Captioner()
    optimizer = adam(model)
    with monitor_of(run) as monitor:
        monitor.watch(model, optimizer)
        for batch in monitor.data(loader):
            ids, labels = batch["input_ids"][:, :-1], batch["input_ids"][:, 1:]
            logits = model(ids, batch["images"])
            loss = cross_entropy(logits.flatten(0, 1), labels.flatten())
            monitor.loss(logits, labels, loss).backward()
            optimizer.step()
            optimizer.zero_grad()
