"""Accelerate: a small mixer on windows of a process signal, in bfloat16 on the CPU."""

import argparse
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

from field_record import logged


@dataclass
class Config:
    length: int = 32
    hidden: int = 64
    classes: int = 4
    rows: int = 1536
    batch: int = 64
    epochs: int = 20
    lr: float = 3e-5
    param_dtype: torch.dtype = torch.float32


class Mixer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Linear(cfg.length, cfg.hidden)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(cfg.hidden), nn.Linear(cfg.hidden, cfg.hidden), nn.GELU()) for _ in range(2)
        )
        self.head = nn.Linear(cfg.hidden, cfg.classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class Signals:
    def __init__(self, cfg):
        t = torch.arange(cfg.length).float()
        self.y = torch.randint(0, cfg.classes, (cfg.rows,))
        frequency = torch.tensor([0.3, 0.5, 0.8, 1.2])[self.y][:, None]
        self.x = torch.sin(frequency * t + torch.rand(cfg.rows, 1)) + 0.3 * torch.randn(cfg.rows, cfg.length)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    cfg = Config()
    cfg.param_dtype = torch.float32 if args.healthy else torch.bfloat16
    accelerator = Accelerator(mixed_precision="bf16", cpu=True)
    model = Mixer(cfg).to(cfg.param_dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    loader = torch.utils.data.DataLoader(Signals(cfg), batch_size=cfg.batch, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(1, cfg.epochs + 1):
        losses = []
        for x, y in loader:
            with accelerator.autocast():
                logits = model(x.to(cfg.param_dtype))
            loss = nn.functional.cross_entropy(logits.float(), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        accelerator.print(f"[{epoch:>2}/{cfg.epochs}]\tcross-entropy\t{mean:.4f}\tlr\t{cfg.lr:g}")
        logged(epoch, **{"cross-entropy": round(mean, 4), "lr": cfg.lr})


if __name__ == "__main__":
    main()
