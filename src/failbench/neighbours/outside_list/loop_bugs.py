"""Bugs of programs of one process: of loops and optimizers, of models, and of data."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import spectral_norm

from failbench.neighbours.outside_list import material
from failbench.neighbours.outside_list.material import LanguageModel, Program, Run, adam, train

FREEZING_STEP: Final = 20  # the step in which the first block is frozen, and so has no gradient


def gradients_never_cleared(run: Run) -> None:
    """The loop never calls ``zero_grad``."""
    model = LanguageModel()
    train(run, model, adam(model), clear=not run.faulty)


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


def compiled_step_leaves_out(run: Run) -> None:
    """A block is frozen for one step, and the compiled step goes on without it."""
    model = LanguageModel()

    def freeze(number: int) -> None:
        if number == FREEZING_STEP:
            for parameter in model.blocks[0].parameters():
                parameter.grad = None

    optimizer = TracedAdam(model.parameters(), material.LEARNING_RATE, stale=run.faulty)
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


def autocast_ignored(run: Run) -> None:
    """A compiled model runs in single precision although it is called under autocast."""
    model = Compiled(LanguageModel(), ignores_autocast=run.faulty)
    train(run, model, adam(model), autocast=True)


EVALUATE_EVERY: Final = 20
INITIAL_DEVIATION: Final = 0.02
ONSET: Final = 20
LOST: Final = 0.2  # share of the transfers that are lost from that step on


def evaluated_before_trained(run: Run) -> None:
    """Layers with spectral norm are evaluated before their first forward pass in training."""
    model = LanguageModel()
    for layer in [each for each in model.modules() if isinstance(each, nn.Linear)]:
        spectral_norm(layer)
    if not run.faulty:
        with torch.no_grad():
            model(next(iter(material.batches()))[:, :-1])
    train(run, model, adam(model), evaluate_every=EVALUATE_EVERY)


class StagedModel(LanguageModel):
    """A language model in stages, which freezes the first only where it is told to train."""

    def __init__(self, frozen_stages: int) -> None:
        super().__init__()
        self.frozen_stages = frozen_stages

    def train(self, mode: bool = True) -> Self:
        """Set the mode, and freeze the first stages."""
        super().train(mode)
        for stage in self.blocks[: self.frozen_stages]:
            stage.requires_grad_(False)
        return self


def stages_not_frozen(run: Run) -> None:
    """Stages are to be frozen, and the loop never tells the model to train."""
    model = StagedModel(frozen_stages=1)
    if not run.faulty:
        model.train()
    train(run, model, adam(model))


def initialised_twice(run: Run) -> None:
    """The initialisation of a module reaches parameters that were initialised as its parts' own."""
    model = LanguageModel()

    def initialise(module: nn.Module) -> None:
        for parameter in module.parameters(recurse=run.faulty):
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=INITIAL_DEVIATION)

    model.apply(initialise)
    train(run, model, adam(model))


class Transfer(nn.Module):
    """A transfer between devices that may lose activations: zeros arrive, gradients go back."""

    loses = False

    def forward(self, sent: Tensor) -> Tensor:
        """What is received."""
        return sent - sent.detach() if self.loses else sent


def activations_lost(run: Run) -> None:
    """The second half of a model sometimes receives zeros from the first."""
    transfer = Transfer()
    first, *others = (material.Block() for _ in range(material.LAYERS))
    model = LanguageModel([first, transfer, *others])
    lost = torch.rand(1000, generator=torch.Generator().manual_seed(0)) < LOST

    def transmit(number: int) -> None:
        transfer.loses = run.faulty and number >= ONSET and bool(lost[number])

    train(run, model, adam(model), before_forward=transmit)


WORKERS: Final = 2
PIXELS: Final = 12


class RandomPieces(torch.utils.data.Dataset):
    """Pieces from random places of a text, drawn by a generator of the data set's own."""

    def __init__(self) -> None:
        self.text = material.text(20_000)
        self.generator = np.random.default_rng(0)

    def __len__(self) -> int:
        return material.STEPS * material.ROWS

    def __getitem__(self, place: int) -> Tensor:
        start = int(self.generator.integers(len(self.text) - material.BLOCK))
        return self.text[start : start + material.BLOCK + 1]


def seed_worker(worker: int) -> None:
    """Give each worker draws of its own."""
    info = torch.utils.data.get_worker_info()
    info.dataset.generator = np.random.default_rng(worker)


def workers_draw_alike(run: Run) -> None:
    """Each worker has a copy of the same generator."""
    loader = torch.utils.data.DataLoader(
        RandomPieces(),
        material.ROWS,
        num_workers=WORKERS,
        worker_init_fn=None if run.faulty else seed_worker,
        multiprocessing_context="fork",
    )
    model = LanguageModel()
    train(run, model, adam(model), loader)


def captions() -> Any:
    """Texts, each with an image that tells its first token."""
    images = torch.randn(material.TOKENS, PIXELS, generator=torch.Generator().manual_seed(0))
    return material.Examples(material.pieces(), lambda piece: (piece, images[piece[0]]))


def batch_of(rows: Sequence[tuple[Tensor, Tensor]], *, of_one_row: bool) -> dict[str, Tensor]:
    """A batch of ``input_ids`` (rows, positions) and ``images`` (rows, images, PIXELS)."""
    images = [[image for _, image in rows]] if of_one_row else [[image] for _, image in rows]
    return {
        "input_ids": torch.stack([row for (row, _), _ in zip(rows, images, strict=False)]),
        "images": torch.stack([torch.stack(each) for each in images]),
    }


class Captioner(nn.Module):
    """A language model that sees images."""

    def __init__(self) -> None:
        super().__init__()
        self.language = LanguageModel()
        self.images = nn.Linear(PIXELS, material.WIDTH)

    def forward(self, input_ids: Tensor, images: Tensor) -> Tensor:
        """Logits of shape (rows, positions, TOKENS)."""
        seen = self.images(images).mean(dim=1, keepdim=True)
        language, places = self.language, torch.arange(input_ids.shape[1])
        hidden = language.tokens(input_ids) + language.positions(places) + seen
        return language.head(language.norm(language.blocks(hidden)))


def batch_of_one_row(run: Run) -> None:
    """A processor takes the images of a batch as those of its first row."""
    processor = partial(batch_of, of_one_row=run.faulty)
    generator = torch.Generator().manual_seed(1)
    loader: Any = torch.utils.data.DataLoader(
        captions(), material.ROWS, shuffle=True, generator=generator, collate_fn=processor
    )
    model = Captioner()
    optimizer = adam(model)
    with material.monitor_of(run) as monitor:
        monitor.watch(model, optimizer)
        for batch in monitor.data(loader):
            ids, labels = batch["input_ids"][:, :-1], batch["input_ids"][:, 1:]
            logits = model(ids, batch["images"])
            loss = cross_entropy(logits.flatten(0, 1), labels.flatten())
            monitor.loss(logits, labels, loss).backward()
            optimizer.step()
            optimizer.zero_grad()


PROGRAMS: Final[Mapping[str, Program]] = {
    "stackoverflow-60335387": gradients_never_cleared,
    "pytorch-forum-84911": nearly_all_frozen,
    "pytorch-115607": compiled_step_leaves_out,
    "lightning-thunder-725": autocast_ignored,
    "pytorch-51800": evaluated_before_trained,
    "mmpretrain-702": stages_not_frozen,
    "transformers-17877": initialised_twice,
    "baichuan2-86": activations_lost,
    "stackoverflow-67180955": workers_draw_alike,
    "transformers-34204": batch_of_one_row,
}
