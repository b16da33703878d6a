"""Warm restarts with a high peak rate: a GRU forecasts a press's force curve."""

import argparse
import logging
from dataclasses import dataclass

import torch
from torch import nn

from field_record import logged

logging.basicConfig(format="%(asctime)s.%(msecs)03d %(message)s", datefmt="%H:%M:%S", level=logging.INFO)


@dataclass
class Config:
    length: int = 24
    hidden: int = 32
    batch: int = 32
    steps: int = 640
    period: int = 160
    lr: float = 0.15


class ForceNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn, self.out = nn.GRU(1, hidden, batch_first=True), nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


class Trainer:
    def __init__(self, cfg):
        self.cfg, self.model = cfg, ForceNet(cfg.hidden)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(self.optimizer, cfg.period, eta_min=1e-5)

    def curves(self):
        t = torch.arange(self.cfg.length + 1).float()
        speed, phase = 0.2 + 0.3 * torch.rand(self.cfg.batch, 1), 6.28 * torch.rand(self.cfg.batch, 1)
        return (torch.sin(speed * t + phase) + 0.02 * torch.randn(self.cfg.batch, len(t)))[..., None]

    def fit(self):
        kept = []
        for step in range(1, self.cfg.steps + 1):
            curve = self.curves()
            loss = nn.functional.mse_loss(self.model(curve[:, :-1]), curve[:, 1:])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            kept.append(loss.item())
            if step % 8 == 0:
                mse, rate = sum(kept[-8:]) / 8, self.schedule.get_last_lr()[0]
                logging.info("%5d  mse %.5f  lr %.5f", step, mse, rate)
                logged(step, mse=round(mse, 5), lr=round(rate, 5))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    Trainer(Config()).fit()


if __name__ == "__main__":
    main()
