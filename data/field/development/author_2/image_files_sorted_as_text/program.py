"""Classifies drawings of shapes that an annotation tool has exported: PNG files and one table of labels."""

import argparse
import csv
import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import DataLoader, Dataset

from field_record import logged

SHAPES = ["circle", "square", "triangle", "cross"]


@dataclass
class Config:
    root: str = "out/export"
    images: int = 900
    held_out: int = 180
    size: int = 24
    epochs: int = 12
    lr: float = 2e-3


def draw(shape, size, rng):
    image = Image.new("L", (size, size), rng.randint(0, 60))
    pen, ink = ImageDraw.Draw(image), rng.randint(150, 255)
    r = rng.randint(5, 9)
    x, y = rng.randint(r, size - r), rng.randint(r, size - r)
    if shape == "circle":
        pen.ellipse((x - r, y - r, x + r, y + r), fill=ink)
    elif shape == "square":
        pen.rectangle((x - r, y - r, x + r, y + r), fill=ink)
    elif shape == "triangle":
        pen.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=ink)
    else:
        pen.line((x - r, y, x + r, y), fill=ink, width=3)
        pen.line((x, y - r, x, y + r), fill=ink, width=3)
    return image


def export(cfg, rng):
    root = Path(cfg.root)
    root.mkdir(parents=True, exist_ok=True)
    with open(root / "labels.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["number", "shape"])
        for number in range(cfg.images):
            shape = rng.choice(SHAPES)
            draw(shape, cfg.size, rng).save(root / f"img_{number}.png")
            table.writerow([number, shape])


class ShapeFolder(Dataset):
    def __init__(self, files, labels):
        self.files, self.labels = files, labels
        self.cache = [np.asarray(Image.open(file), dtype=np.float32) / 255 for file in files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.from_numpy(self.cache[index])[None], SHAPES.index(self.labels[index])


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * 36, len(SHAPES)),
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config()
    export(cfg, random.Random(args.seed))
    with open(Path(cfg.root) / "labels.csv") as file:
        labels = [row["shape"] for row in csv.DictReader(file)]
    key = (lambda path: int(path.stem.split("_")[1])) if args.healthy else str
    files = sorted(Path(cfg.root).glob("img_*.png"), key=key)
    cut = cfg.images - cfg.held_out
    train = DataLoader(ShapeFolder(files[:cut], labels[:cut]), batch_size=32, shuffle=True)
    val = DataLoader(ShapeFolder(files[cut:], labels[cut:]), batch_size=90)
    print(json.dumps({"config": asdict(cfg), "train": cut, "val": cfg.held_out}))
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        net.train()
        total, right = 0.0, 0
        for x, y in train:
            logits = net(x)
            loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            right += (logits.argmax(1) == y).sum().item()
        net.eval()
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in val)
        row = {
            "train_loss": round(total / cut, 5),
            "train_acc": round(right / cut, 4),
            "val_acc": round(hits / cfg.held_out, 4),
        }
        print(json.dumps({"epoch": epoch, **row}))
        logged(epoch, **row)


if __name__ == "__main__":
    main()
