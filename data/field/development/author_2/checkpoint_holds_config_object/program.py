"""Trains a defect detector on textures, keeps the best checkpoint, loads it for the final test."""

import argparse
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from field_record import logged

logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO)
log = logging.getLogger("defects")


@dataclass
class DetectorConfig:
    size: int = 20
    width: int = 12
    epochs: int = 10
    lr: float = 3e-3
    batch: int = 40
    folder: str = "out/checkpoints"


def textures(n, size):
    x = torch.randn(n, 1, size, size) * 0.3
    y = torch.randint(0, 2, (n,))
    for i in range(n):
        if y[i]:
            r, c = torch.randint(1, size - 7, (2,)).tolist()
            x[i, 0, r, c : c + 6] += 0.9
    return x, y


class Detector(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 5, padding=2),
            nn.ReLU(),
            nn.Conv2d(width, width, 5, padding=2),
            nn.ReLU(),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(width, 2)

    def forward(self, x):
        return self.classifier(self.features(x))


class CheckpointManager:
    def __init__(self, folder):
        self.path = Path(folder) / "best.pt"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.best = -1.0

    def save(self, model, config, epoch, score):
        if score > self.best:
            self.best = score
            torch.save({"model": model.state_dict(), "config": config, "epoch": epoch, "score": score}, self.path)
            log.info("saved %s (acc %.3f)", self.path, score)

    def load(self):
        return torch.load(self.path, map_location="cpu")


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = DetectorConfig()
    (x, y), (vx, vy), (tx, ty) = textures(1200, cfg.size), textures(300, cfg.size), textures(300, cfg.size)
    model, manager = Detector(cfg.width), CheckpointManager(cfg.folder)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    stored = asdict(cfg) if args.healthy else cfg
    for epoch in range(1, cfg.epochs + 1):
        losses = []
        for rows in torch.randperm(len(x)).split(cfg.batch):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        acc = accuracy(model, vx, vy)
        log.info("epoch %d: loss %.4f, val acc %.4f", epoch, sum(losses) / len(losses), acc)
        logged(epoch, loss=round(sum(losses) / len(losses), 4), **{"val acc": round(acc, 4)})
        manager.save(model, stored, epoch, acc)
    best = manager.load()
    final = Detector(cfg.width)
    final.load_state_dict(best["model"])
    score = accuracy(final, tx, ty)
    log.info("test acc of epoch %d: %.4f", best["epoch"], score)
    logged(None, **{"test acc": round(score, 4)})


if __name__ == "__main__":
    main()
