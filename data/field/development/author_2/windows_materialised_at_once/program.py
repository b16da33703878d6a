"""Forecast of a pump's vibration from sliding windows over six sensor channels."""

import argparse
import logging
import resource
from dataclasses import dataclass

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import nn

from field_record import logged

logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s | %(message)s", level=logging.INFO)
log = logging.getLogger("pump")


@dataclass
class Config:
    samples: int = 60_000
    channels: int = 6
    window: int = 1024
    batch: int = 32
    steps: int = 240
    lr: float = 2e-3
    container_mb: int = 500


def container(megabytes):
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + megabytes * 2**20,) * 2)


def record(cfg, rng):
    t = np.arange(cfg.samples)[:, None]
    freq = np.linspace(0.002, 0.02, cfg.channels)[None]
    series = np.sin(2 * np.pi * freq * t + rng.uniform(0, 6, (1, cfg.channels))) + 0.1 * rng.normal(
        size=(cfg.samples, cfg.channels)
    )
    return series.astype(np.float32)


class Forecaster(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(channels, 16, 9, stride=4),
            nn.ReLU(),
            nn.Conv1d(16, 16, 9, stride=4),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(16),
            nn.Flatten(),
            nn.Linear(256, channels),
        )

    def forward(self, x):
        return self.net(x)


class Trainer:
    def __init__(self, cfg, windows, series, rng):
        self.cfg, self.windows, self.series, self.rng = cfg, windows, series, rng
        self.model = Forecaster(cfg.channels)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def batch(self):
        rows = self.rng.integers(0, len(self.windows) - 1, self.cfg.batch)
        x = np.stack([self.windows[row] for row in rows])
        return torch.from_numpy(x), torch.from_numpy(self.series[rows + self.cfg.window])

    def fit(self):
        seen = []
        for step in range(1, self.cfg.steps + 1):
            x, y = self.batch()
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            seen.append(loss.item())
            if step % 10 == 0:
                mse = round(float(np.mean(seen[-10:])), 4)
                log.info("step %4d/%d  mse=%.4f", step, self.cfg.steps, mse)
                logged(step, mse=mse)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng, cfg = np.random.default_rng(args.seed), Config()
    container(cfg.container_mb)
    series = record(cfg, rng)
    log.info("series %s, %.1f MB", series.shape, series.nbytes / 2**20)
    view = sliding_window_view(series, cfg.window, axis=0)
    windows = view if args.healthy else np.ascontiguousarray(view)
    log.info("%d windows of %d samples", len(windows), cfg.window)
    Trainer(cfg, windows, series, rng).fit()


if __name__ == "__main__":
    main()
