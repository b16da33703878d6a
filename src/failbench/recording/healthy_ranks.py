"""Healthy ranks: small trainings of two processes with gloo in which all is well, monitored.

What bounds of the comparison between ranks are learnt from. Run as a module it records what is not
there yet: ``python -m failbench.recording.healthy_ranks data/healthy_ranks``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from failbench.monitor import Monitor, Vocabulary, read_history
from failbench.monitor.records.tables import (
    monitored_of,
    monitored_row,
    read_monitored,
    signal_rows,
    write_monitored,
)
from failbench.recording.corpus import PAD, UNKNOWN, VOCABULARY, load_corpus

RANKS: Final = 2
STEPS: Final = 200
SEEDS: Final = 6
ROW: Final = 24  # positions of a row of tokens
EVALUATE: Final = 50  # steps from one evaluation to the next
FILE: Final = "healthy"


@dataclass(frozen=True)
class Setting:
    """A kind of training; ``evaluates`` says which ranks evaluate, all or the first alone."""

    name: str
    optimizer: str
    rows: int
    rate: float
    clipping: float | None = None
    accumulate: int = 1
    evaluates: str = "all"


SETTINGS: Final = (
    Setting("decoder", "adamw", 8, 3e-3, clipping=1.0),
    Setting("recurrent", "sgd", 16, 0.3),
    Setting("accumulating", "adamw", 4, 3e-3, clipping=1.0, accumulate=2, evaluates="first"),
    Setting("images", "adamw", 32, 1e-3, evaluates="first"),
)


class _Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 48, padding_idx=PAD)
        self.places = nn.Embedding(ROW, 48)
        self.layer = nn.TransformerEncoderLayer(48, 4, 96, 0.1, batch_first=True)
        self.output = nn.Linear(48, VOCABULARY)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        mask = torch.full((ids.shape[1], ids.shape[1]), float("-inf")).triu(1)
        hidden = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        return self.output(self.layer(hidden, src_mask=mask))


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 48)
        self.mix = nn.GRU(48, 64, batch_first=True)
        self.output = nn.Linear(64, VOCABULARY)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.mix(self.tokens(ids))
        return self.output(hidden)


class _Images(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
            nn.Linear(16 * 16, 10),
        )  # fmt: skip


_MODELS: Final[dict[str, Callable[[], nn.Module]]] = {
    "decoder": _Decoder,
    "accumulating": _Decoder,
    "recurrent": _Recurrent,
    "images": _Images,
}


class _Pairs(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    def __init__(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        self.inputs, self.labels = inputs, labels

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.inputs[place], self.labels[place]


def _texts(corpus: Path, seed: int) -> tuple[_Pairs, _Pairs]:
    """Rows of real text for training and evaluation, of which some are shorter and padded."""
    known = load_corpus(corpus)
    subject, parts = known.slices[seed % len(known.slices)], []
    for documents in (subject.training, subject.validation):
        rows = []
        for encoded in known.tokenizer.encode_batch(list(documents)):
            for start in range(0, len(encoded.ids), ROW + 1):
                row = encoded.ids[start : start + ROW + 1]
                if len(row) > ROW // 2:
                    rows.append(row + [PAD] * (ROW + 1 - len(row)))
        ids = torch.tensor(rows)
        parts.append(_Pairs(ids[:, :-1], ids[:, 1:].masked_fill(ids[:, 1:] == PAD, -100)))
    return parts[0], parts[1]


def _pictures(seed: int) -> tuple[_Pairs, _Pairs]:
    """Pictures of ten kinds of bars under noise, for training and evaluation."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (4096,), generator=generator)
    inputs = torch.randn(4096, 1, 8, 8, generator=generator)
    for place, label in enumerate(labels.tolist()):
        bar = inputs[place, 0, label % 8] if label < 8 else inputs[place, 0, :, label % 8]
        bar += 1.5
    return _Pairs(inputs[:3584], labels[:3584]), _Pairs(inputs[3584:], labels[3584:])


def _loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    classes = logits.shape[-1]
    return nn.functional.cross_entropy(logits.reshape(-1, classes), labels.reshape(-1))


def _batches(data: _Pairs, rows: int, rank: int, seed: int) -> Iterator[DataLoader[Any]]:
    """A loader of this rank's part for each pass over the data."""
    sampler = DistributedSampler(data, RANKS, rank, seed=seed, drop_last=True)
    loader = DataLoader(data, rows, sampler=sampler, drop_last=True)
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield loader
        epoch += 1


def train(rank: int, setting: Setting, seed: int, folder: Path, corpus: Path) -> None:
    """What each rank does: a plain loop with the monitor attached."""
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=RANKS)
    of_images = setting.name == "images"
    data, held_out = _pictures(seed) if of_images else _texts(corpus, seed)
    torch.manual_seed(seed)
    model = _MODELS[setting.name]()
    parallel = DistributedDataParallel(model)
    torch.manual_seed(1000 * seed + rank)  # of dropout, which differs between ranks
    optimizer: torch.optim.Optimizer
    if setting.optimizer == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), setting.rate, momentum=0.9)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), setting.rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 20) * (1 - 0.8 * step / STEPS)
    )
    known = None if of_images else Vocabulary(VOCABULARY, padding=PAD, unknown=UNKNOWN)
    with Monitor(folder / f"rank{rank}", vocabulary=known, budget=None) as monitor:
        monitor.watch(parallel, optimizer)
        taken = 0
        for loader in _batches(data, setting.rows, rank, seed):
            for inputs, labels in monitor.data(loader):
                taken += 1
                is_last = taken % setting.accumulate == 0
                with nullcontext() if is_last else parallel.no_sync():
                    logits = parallel(inputs)
                    loss = monitor.loss(logits, labels, _loss(logits, labels))
                    (loss / setting.accumulate).backward()
                if not is_last:
                    continue
                if setting.clipping is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), setting.clipping)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                step = taken // setting.accumulate
                if step % EVALUATE == 0 and (setting.evaluates == "all" or rank == 0):
                    with monitor.phase("evaluation"), torch.no_grad():
                        model.eval()
                        for rows, wanted in DataLoader(held_out, 32):
                            _loss(model(rows), wanted)
                        model.train()
                if step == STEPS:
                    break
            if taken // setting.accumulate == STEPS:
                break
    distributed.destroy_process_group()


def main(data: Path) -> None:
    """Record what is missing of all settings and seeds."""
    known = set()
    if (data / "runs.parquet").exists():
        known = set(read_monitored(data).runs["run_id"])
    corpus = Path(tempfile.gettempdir()) / "failbench-corpus.json"
    load_corpus(corpus)
    for setting in SETTINGS:
        for seed in range(SEEDS):
            name = f"{setting.name}-{seed}"
            if f"{name} 0" in known:
                continue
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                torch.multiprocessing.spawn(train, (setting, seed, folder, corpus), nprocs=RANKS)
                rows = []
                for rank in range(RANKS):
                    history = read_history(folder / f"rank{rank}")
                    of_run = {
                        "run_id": f"{name} {rank}", "kind": "success", "seed": seed,
                        "architecture": setting.name, "optimizer": setting.optimizer,
                        "scale": "two_ranks", "fingerprint": "",
                    }  # fmt: skip
                    rows.append((monitored_row(history, of_run), signal_rows(history)))
            write_monitored(data, FILE, monitored_of(rows))
            sys.stderr.write(f"{name}: recorded\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
