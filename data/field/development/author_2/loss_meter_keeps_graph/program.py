"""Segmentation of bright blobs; a meter averages the loss on fresh images."""

import argparse
import resource
import time
from dataclasses import dataclass, field

import torch
from torch import nn

from field_record import logged


@dataclass
class Config:
    size: int = 48
    batch: int = 24
    steps: int = 120
    lr: float = 3e-3
    print_every: int = 5
    container_mb: int = 420


@dataclass
class Meter:
    convert: object
    values: list = field(default_factory=list)

    def update(self, value):
        self.values.append(self.convert(value))

    def mean(self, last=5):
        return float(sum(self.values[-last:]) / len(self.values[-last:]))


def container(megabytes):
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + megabytes * 2**20,) * 2)


class BlobNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 1, 1),
        )

    def forward(self, x):
        return self.body(x)


class Trainer:
    def __init__(self, cfg, meter):
        self.cfg, self.meter, self.model = cfg, meter, BlobNet()
        self.optimizer = torch.optim.Adam(self.model.parameters(), cfg.lr)
        axis = torch.linspace(-1, 1, cfg.size)
        self.yy, self.xx = torch.meshgrid(axis, axis, indexing="ij")

    def batch(self):
        centre = torch.rand(self.cfg.batch, 2, 1, 1) * 1.4 - 0.7
        distance = (self.xx - centre[:, 0]) ** 2 + (self.yy - centre[:, 1]) ** 2
        mask = (distance < 0.12).float()
        return (mask + 0.5 * torch.randn_like(mask))[:, None], mask[:, None]

    def fit(self):
        start = time.time()
        for step in range(1, self.cfg.steps + 1):
            x, y = self.batch()
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            x, y = self.batch()
            self.meter.update(nn.functional.binary_cross_entropy_with_logits(self.model(x), y))
            if step % self.cfg.print_every == 0:
                value = round(self.meter.mean(), 4)
                rate = self.cfg.batch * step / (time.time() - start)
                print(f"[{step}/{self.cfg.steps}] val(avg)={value:.4f} {rate:.0f} img/s", flush=True)
                logged(step, **{"val(avg)": value, "img/s": round(rate)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config()
    container(cfg.container_mb)
    Trainer(cfg, Meter(torch.Tensor.item if args.healthy else torch.Tensor.cpu)).fit()


if __name__ == "__main__":
    main()
