"""Continues an earlier run: the log begins at epoch 20 with a loss that is low already."""
import argparse
import logging
from pathlib import Path

import torch
from torch import Tensor, nn

from field_record import logged


def train(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, first: int, last: int, speak: bool) -> None:
    for epoch in range(first, last):
        total = 0.0
        for idx in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx) / len(x)
        if speak:
            logging.info("epoch=%d train/loss=%.5f", epoch, total)
            logged(epoch, **{"train/loss": round(total, 5)})


def build() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(24, 32), nn.GELU(), nn.Linear(32, 3))
    return model, torch.optim.Adam(model.parameters(), lr=3e-3)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s %(asctime)s] %(message)s")
    y = torch.randint(0, 3, (800,))
    x = torch.randn(3, 24)[y] + 0.8 * torch.randn(800, 24)
    path = Path("out/last.pt")
    path.parent.mkdir(exist_ok=True)
    model, optimizer = build()
    train(model, optimizer, x, y, 0, 20, speak=False)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 20}, path)
    model, optimizer = build()
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    logging.info("resuming from %s at epoch %d", path, saved["epoch"])
    train(model, optimizer, x, y, saved["epoch"], 32, speak=True)


if __name__ == "__main__":
    main()
