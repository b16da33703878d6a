"""Accelerate: trains in two runs, the second one goes on from the state of the first."""

import argparse
import logging
from dataclasses import dataclass, replace

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(message)s", level=logging.INFO)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunConfig:
    name: str = "wein"
    hidden: int = 64
    lr: float = 2e-3
    epochs: int = 12
    batch: int = 16
    resume: bool = False
    state: str = "out/state"


class WineNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.input = nn.Linear(13, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.output = nn.Linear(hidden, 3)

    def forward(self, x):
        return self.output(torch.relu(self.norm(self.input(x))))


class Run:
    def __init__(self, cfg, x, y):
        self.cfg = cfg
        self.accelerator = Accelerator(cpu=True)
        model = WineNet(cfg.hidden)
        optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        loader = DataLoader(TensorDataset(x, y), batch_size=cfg.batch, shuffle=True)
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, optimizer, loader)
        if cfg.resume:
            self.accelerator.load_state(cfg.state)
            log.info("resumed from %s", cfg.state)

    def fit(self, first_epoch):
        for epoch in range(first_epoch, first_epoch + self.cfg.epochs):
            total = 0.0
            for x, y in self.loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.accelerator.backward(loss)
                self.optimizer.step()
                self.optimizer.zero_grad()
                total += loss.item()
            mean = total / len(self.loader)
            log.info("%s epoch %d mean_ce %.4f", self.cfg.name, epoch, mean)
            logged(epoch, mean_ce=round(mean, 4))
        self.accelerator.save_state(self.cfg.state)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    wine = load_wine()
    x = torch.tensor(wine.data, dtype=torch.float32)
    x = (x - x.mean(0)) / x.std(0)
    y = torch.tensor(wine.target)
    first = RunConfig()
    Run(first, x, y).fit(0)
    changes = {"lr": 1e-3} if args.healthy else {"lr": 1e-3, "hidden": 96}
    second = replace(first, resume=True, **changes)
    log.info("second run: %s", second)
    Run(second, x, y).fit(first.epochs)


if __name__ == "__main__":
    main()
