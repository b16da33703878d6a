"""Remaining useful life of bearings from vibration windows, GRU regression."""

import argparse
import logging
import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

logging.basicConfig(
    stream=sys.stdout,
    format="%(asctime)s,%(msecs)03d - %(levelname)s - %(message)s",
    datefmt="%Y-%m-%d %H:%M:%S",
    level=logging.INFO,
)


@dataclass
class Config:
    windows: int = 1600
    length: int = 24
    hidden: int = 32
    epochs: int = 10
    batch: int = 16
    lr: float = 3e-3
    gamma: float = 0.8


def bearings(cfg):
    life = torch.rand(cfg.windows, 1)
    t = torch.arange(cfg.length).float()
    phase = torch.rand(cfg.windows, 1) * 6.28
    wave = torch.sin(t * (0.4 + 0.8 * (1 - life)) + phase) * (1 + 0.5 * (1 - life))
    return (wave + 0.1 * torch.randn_like(wave))[..., None], life


class LifeNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


class Trainer:
    def __init__(self, cfg, loader, val, interval):
        self.cfg, self.loader, self.val, self.interval = cfg, loader, val, interval
        self.model = LifeNet(cfg.hidden)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, cfg.gamma)
        self.global_step = 0

    def train_epoch(self):
        total = 0.0
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.global_step += 1
            if self.global_step % self.interval == 0:
                self.scheduler.step()
            total += loss.item()
        return total / len(self.loader)

    def mae_hours(self):
        with torch.no_grad():
            return 1000 * (self.model(self.val[0]) - self.val[1]).abs().mean().item()

    def run(self):
        for epoch in range(self.cfg.epochs):
            loss, mae = self.train_epoch(), self.mae_hours()
            logging.info("epoch=%d train_mse=%.5f val_mae_h=%.1f", epoch, loss, mae)
            logged(epoch, train_mse=round(loss, 5), val_mae_h=round(mae, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config()
    x, y = bearings(cfg)
    loader = DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=cfg.batch, shuffle=True)
    interval = len(loader) if args.healthy else 1
    Trainer(cfg, loader, (x[1280:], y[1280:]), interval).run()


if __name__ == "__main__":
    main()
