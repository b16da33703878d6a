"""timm: a small residual network on infrared images of coils, four states."""

import argparse
import logging
from dataclasses import dataclass

import numpy as np
import timm
import torch
from timm.utils import AverageMeter
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from field_record import logged

logging.basicConfig(format="%(message)s", level=logging.INFO)
_logger = logging.getLogger("train")


@dataclass
class Config:
    model: str = "test_resnet"
    size: int = 40
    train: int = 480
    val: int = 160
    batch: int = 24
    epochs: int = 9
    lr: float = 2e-3
    mean: float = 0.12
    std: float = 0.06


class CoilImages(Dataset):
    def __init__(self, n, size, rng, transform):
        self.transform, self.labels = transform, rng.integers(0, 4, n)
        axis = np.arange(size)
        self.images = np.zeros((n, size, size, 3), np.uint8)
        for image, label in zip(self.images, self.labels):
            phase = rng.integers(0, 8)
            rows, cols = axis[:, None] + phase, axis[None] + phase
            pattern = [rows % 8 < 4, cols % 8 < 4, (rows + cols) % 8 < 4, (rows // 4 + cols // 4) % 2 == 0][label]
            heat = 22 + 16 * np.broadcast_to(pattern, (size, size)) + rng.normal(0, 4, (size, size))
            image[:] = heat.clip(0, 255)[..., None].astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.transform(self.images[index]), int(self.labels[index])


def train_one_epoch(epoch, model, loader, optimizer):
    losses = AverageMeter()
    model.train()
    for index, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(y))
        if index == len(loader) - 1:
            _logger.info(f"Train: {epoch} [{index:>4d}/{len(loader)}]  Loss: {losses.val:#.3g} ({losses.avg:#.3g})")
    return losses.avg


def validate(model, loader):
    losses, top1 = AverageMeter(), AverageMeter()
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            losses.update(nn.functional.cross_entropy(logits, y).item(), len(y))
            top1.update(100 * (logits.argmax(1) == y).float().mean().item(), len(y))
    _logger.info(f"Test: [{len(loader) - 1:>4d}/{len(loader)}]  Loss: ({losses.avg:>6.3f})  Acc@1: ({top1.avg:>7.3f})")
    return losses.avg, top1.avg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg, rng = Config(), np.random.default_rng(args.seed)
    steps = [transforms.ToTensor(), transforms.Normalize([cfg.mean] * 3, [cfg.std] * 3)]
    train_steps, val_steps = steps, steps if args.healthy else steps[:1]
    train = DataLoader(CoilImages(cfg.train, cfg.size, rng, transforms.Compose(train_steps)), cfg.batch, shuffle=True)
    val = DataLoader(CoilImages(cfg.val, cfg.size, rng, transforms.Compose(val_steps)), 80)
    model = timm.create_model(cfg.model, pretrained=False, num_classes=4)
    _logger.info(f"Model {cfg.model} created, param count: {sum(p.numel() for p in model.parameters())}")
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        train_loss = train_one_epoch(epoch, model, train, optimizer)
        loss, top1 = validate(model, val)
        logged(epoch, train_loss=round(train_loss, 3), loss=round(loss, 3), **{"Acc@1": round(top1, 3)})


if __name__ == "__main__":
    main()
