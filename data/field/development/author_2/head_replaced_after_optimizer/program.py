"""Transfer of a small convolutional backbone to ten handwritten digits."""

import argparse
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import nn

from field_record import logged


@dataclass
class TransferConfig:
    source_classes: int = 25
    target_classes: int = 10
    width: int = 48
    lr: float = 5e-3
    epochs: int = 24
    batch_size: int = 64


class DigitNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, cfg.width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(cfg.width, cfg.width, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.head = nn.Linear(cfg.width * 16, cfg.source_classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze_backbone(self):
        self.backbone.requires_grad_(False)

    def reset_head(self, classes):
        self.head = nn.Linear(self.head.in_features, classes)


class Finetuner:
    def __init__(self, cfg, model):
        self.cfg, self.model = cfg, model
        self.setup_optimizer()

    def setup_optimizer(self):
        trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trainable, lr=self.cfg.lr)

    def train_epoch(self, x, y):
        self.model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(self.cfg.batch_size):
            loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(x)

    @torch.no_grad()
    def accuracy(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = TransferConfig()
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16 - 0.3
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    train, val = order[:1400], order[1400:]
    model = DigitNet(cfg)
    model.freeze_backbone()
    tuner = Finetuner(cfg, model)
    model.reset_head(cfg.target_classes)
    if args.healthy:
        tuner.setup_optimizer()
    print(f"trainable parameters: {sum(p.numel() for p in model.parameters() if p.requires_grad):,}")
    print("| epoch | train loss | val acc |")
    print("|------:|-----------:|--------:|")
    for epoch in range(1, cfg.epochs + 1):
        loss = tuner.train_epoch(x[train], y[train])
        acc = tuner.accuracy(x[val], y[val])
        print(f"| {epoch:5d} | {loss:10.4f} | {acc:7.3f} |")
        logged(epoch, **{"train loss": round(loss, 4), "val acc": round(acc, 3)})


if __name__ == "__main__":
    main()
