"""Accelerate: sorts tablets on a belt by shape; a detector's crops are classified."""

import argparse
from dataclasses import dataclass

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from field_record import logged


@dataclass
class BeltConfig:
    crop: int = 32
    items: int = 640
    epochs: int = 8
    batch: int = 20
    lr: float = 2e-3


class TabletCrops(Dataset):
    KINDS = ("round", "capsule", "hexagon")

    def __init__(self, cfg, rng, transform):
        self.transform, self.items = transform, []
        for _ in range(cfg.items):
            kind = int(rng.integers(0, 3))
            self.items.append((self.photograph(kind, rng), kind))

    @staticmethod
    def photograph(kind, rng):
        frame = Image.new("RGB", (96, 96), tuple(int(v) for v in rng.integers(20, 80, 3)))
        pen, ink = ImageDraw.Draw(frame), tuple(int(v) for v in rng.integers(140, 255, 3))
        if kind == 0:
            pen.ellipse((30, 30, 66, 66), fill=ink)
        elif kind == 1:
            pen.rounded_rectangle((24, 38, 72, 58), radius=10, fill=ink)
        else:
            pen.regular_polygon((48, 48, 20), 6, fill=ink)
        left, top = rng.integers(14, 22, 2)
        width, height = rng.integers(54, 70, 2) if rng.random() < 0.4 else (60, 60)
        return frame.crop((int(left), int(top), int(left + width), int(top + height)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image, kind = self.items[index]
        return self.transform(image), kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    cfg = BeltConfig()
    size = (cfg.crop, cfg.crop) if args.healthy else cfg.crop
    transform = transforms.Compose(
        [transforms.Resize(size), transforms.ToTensor(), transforms.Normalize([0.4] * 3, [0.25] * 3)]
    )
    loader = DataLoader(
        TabletCrops(cfg, np.random.default_rng(args.seed), transform), batch_size=cfg.batch, shuffle=True
    )
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 24, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3)
    )
    model(torch.zeros(1, 3, cfg.crop, cfg.crop))
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    accelerator.print("epoch;batches;loss;accuracy[%]")
    for epoch in range(cfg.epochs):
        loss_sum = hits = 0.0
        for x, y in loader:
            with accelerator.accumulate(model):
                logits = model(x)
                loss = nn.functional.cross_entropy(logits, y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            loss_sum += loss.item()
            hits += (logits.argmax(1) == y).sum().item()
        loss, accuracy = round(loss_sum / len(loader), 3), round(100 * hits / cfg.items, 1)
        accelerator.print(f"{epoch};{len(loader)};{loss:.3f};{accuracy:.1f}")
        logged(epoch, loss=loss, accuracy=accuracy)


if __name__ == "__main__":
    main()
