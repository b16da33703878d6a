"""Accelerate: optical inspection of solder joints, augmented crops are cached by the data set."""

import argparse
import json
import resource
import time
from dataclasses import dataclass

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset

from field_record import logged


@dataclass
class Config:
    boards: int = 160
    size: int = 112
    epochs: int = 40
    batch: int = 16
    lr: float = 2e-3
    container_mb: int = 260


def container(megabytes):
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + megabytes * 2**20,) * 2)


class SolderJoints(Dataset):
    def __init__(self, cfg, rng, slot):
        self.cfg, self.rng, self.slot, self.epoch, self.cache = cfg, rng, slot, 0, {}
        self.labels = rng.integers(0, 2, cfg.boards)
        self.boards = rng.normal(0, 40, (cfg.boards, 28, 28)).astype(np.int16)
        for board, label in zip(self.boards, self.labels):
            r, c = rng.integers(4, 16, 2)
            board[r : r + 8, c : c + 8] += 120
            if label:
                board[r + 3 : r + 5, c : c + 8] -= 200

    def __len__(self):
        return len(self.labels)

    def augment(self, index):
        image = np.kron(self.boards[index], np.ones((4, 4))).astype(np.float32) / 100
        return np.ascontiguousarray(np.rot90(image, self.rng.integers(0, 4)))[None]

    def __getitem__(self, index):
        key = self.slot(index, self.epoch)
        if key not in self.cache:
            self.cache[key] = self.augment(index)
        return self.cache[key], self.labels[index]


class JointNet(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.AvgPool2d(4),
            nn.Conv2d(1, 16, 3),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(2),
            nn.Flatten(),
            nn.Linear(64, 2),
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    cfg = Config()
    slot = (lambda index, epoch: (index, epoch % 4)) if args.healthy else (lambda index, epoch: (index, epoch))
    data = SolderJoints(cfg, np.random.default_rng(args.seed), slot)
    accelerator = Accelerator(cpu=True)
    model = JointNet()
    optimizer = torch.optim.Adam(model.parameters(), cfg.lr)
    loader = DataLoader(data, batch_size=cfg.batch, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    container(cfg.container_mb)
    for epoch in range(cfg.epochs):
        data.epoch, start, losses = epoch, time.perf_counter(), []
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        row = {"loss": round(sum(losses) / len(losses), 4), "seconds": round(time.perf_counter() - start, 2)}
        accelerator.print(json.dumps({"event": "epoch_end", "epoch": epoch, **row}))
        logged(epoch, **row)


if __name__ == "__main__":
    main()
