"""Forecast of the request rate of a service."""
import argparse
import dataclasses
import pathlib

import torch
from torch import nn
from tqdm import tqdm

from field_record import logged


@dataclasses.dataclass
class JobConfig:
    hidden: int = 32
    window: int = 30
    lr: float = 5e-3
    epochs: int = 3
    out: str = "out/forecast.ckpt"


ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
cfg = JobConfig()
t = torch.arange(3000.0)
rate = torch.sin(t / 12) + 0.5 * torch.sin(t / 80) + 0.05 * torch.randn(len(t))
windows = rate.unfold(0, cfg.window + 1, 2)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.rnn(x.unsqueeze(-1))[0][:, -1]).squeeze(-1)


def save(model, epoch):
    pathlib.Path(cfg.out).parent.mkdir(exist_ok=True)
    settings = dataclasses.asdict(cfg) if args.healthy else cfg
    torch.save({"model": model.state_dict(), "config": settings, "epoch": epoch}, cfg.out)


def train(model, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in epochs:
        bar = tqdm(torch.randperm(len(windows)).split(64), desc=f"epoch {epoch}", mininterval=0.5)
        for n, rows in enumerate(bar):
            loss = nn.functional.mse_loss(model(windows[rows, :-1]), windows[rows, -1])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if n % 6 == 0:
                bar.set_postfix(mse=f"{loss.item():.4f}")
                logged(epoch * len(bar) + n, mse=round(loss.item(), 4))
        save(model, epoch)


train(Forecaster(cfg.hidden), range(cfg.epochs))
print("node drained, restarting from", cfg.out)
saved = torch.load(cfg.out, map_location="cpu")
model = Forecaster(cfg.hidden)
model.load_state_dict(saved["model"])
train(model, range(saved["epoch"] + 1, cfg.epochs + 2))
