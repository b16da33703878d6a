"""Density of a sensor's noise: a network gives mean and variance, the loss is the negative log-density."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn

from field_record import logged


@dataclass
class Config:
    inputs: int = 5
    hidden: int = 48
    batch: int = 64
    steps: int = 800
    lr: float = 3e-3


class Gauge(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(cfg.inputs, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU()
        )
        self.mean, self.log_var = nn.Linear(cfg.hidden, 1), nn.Linear(cfg.hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).exp()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config()
    model, nll = Gauge(cfg), nn.GaussianNLLLoss(eps=1e-6)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    mixing, window = torch.randn(cfg.inputs, 1) * 0.2, []
    print(f"{'Schritt':>8}{'Verlust':>12}{'Streuung':>12}")
    for step in range(1, cfg.steps + 1):
        x = torch.randn(cfg.batch, cfg.inputs)
        noise = 0.01 + 0.03 * torch.sigmoid(x[:, :1])
        y = torch.tanh(x @ mixing) + noise * torch.randn(cfg.batch, 1)
        mean, variance = model(x)
        loss = nll(mean, y, variance)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.append(loss.item())
        if step % 40 == 0:
            row = {"Verlust": round(sum(window[-40:]) / 40, 4), "Streuung": round(variance.sqrt().mean().item(), 4)}
            print(f"{step:>8d}{row['Verlust']:>12.4f}{row['Streuung']:>12.4f}")
            logged(step, **row)


if __name__ == "__main__":
    main()
