"""Anomaly scores for a milling spindle: an LSTM autoencoder. A node agent runs beside the job."""

import argparse
import logging
import multiprocessing as mp
import os
import signal
import time
from dataclasses import dataclass

import torch
from torch import nn

from field_record import logged

logging.basicConfig(format="%(asctime)s | spindle | %(message)s", datefmt="%d.%m.%Y %H:%M:%S", level=logging.INFO)


@dataclass
class Config:
    length: int = 40
    channels: int = 3
    hidden: int = 48
    batch: int = 32
    steps: int = 1000
    lr: float = 4e-3


def agent(job, seconds):
    time.sleep(seconds)
    os.kill(job, signal.SIGTERM)


class SpindleAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = nn.LSTM(cfg.channels, cfg.hidden, batch_first=True)
        self.decoder = nn.LSTM(cfg.hidden, cfg.hidden, batch_first=True)
        self.out = nn.Linear(cfg.hidden, cfg.channels)

    def forward(self, x):
        code = self.encoder(x)[1][0][-1]
        return self.out(self.decoder(code[:, None].expand(-1, x.shape[1], -1))[0])


class Trainer:
    def __init__(self, cfg):
        self.cfg, self.model = cfg, SpindleAE(cfg)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def batch(self):
        t = torch.arange(self.cfg.length).float()[None, :, None]
        phase = torch.rand(self.cfg.batch, 1, self.cfg.channels) * 6.28
        speed = torch.tensor([0.15, 0.3, 0.45])
        return torch.sin(speed * t + phase[:, :, :1] * torch.tensor([1.0, 2.0, 3.0]))

    def fit(self):
        kept = []
        for step in range(1, self.cfg.steps + 1):
            x = self.batch()
            loss = nn.functional.mse_loss(self.model(x), x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            kept.append(loss.item())
            if step % 20 == 0:
                value = sum(kept[-20:]) / 20
                logging.info("Schritt %d: Rekonstruktionsfehler %.4f", step, value)
                logged(step, Rekonstruktionsfehler=round(value, 4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    mp.Process(target=agent, args=(os.getpid(), 3600 if args.healthy else 4), daemon=True).start()
    Trainer(Config()).fit()


if __name__ == "__main__":
    main()
