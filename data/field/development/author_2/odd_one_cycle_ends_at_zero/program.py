"""Accelerate: one-cycle training of a segmentation head, the rate ends at nothing; mostly empty masks."""

import argparse
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from tqdm import tqdm

from field_record import logged


@dataclass
class Config:
    size: int = 24
    batch: int = 16
    steps: int = 300
    peak: float = 1e-2


class PoreNet(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1)
        )


class Castings(torch.utils.data.IterableDataset):
    """Castings with at most one pore of two by two pixels."""

    def __init__(self, cfg):
        self.cfg = cfg

    def __iter__(self):
        for _ in range(self.cfg.steps * self.cfg.batch):
            mask = torch.zeros(1, self.cfg.size, self.cfg.size)
            r, c = torch.randint(0, self.cfg.size - 2, (2,)).tolist()
            mask[0, r : r + 2, c : c + 2] = float(torch.rand(()) < 0.5)
            yield 0.2 * torch.randn_like(mask) - mask, mask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    cfg, accelerator = Config(), Accelerator(cpu=True)
    model = PoreNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.peak)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, cfg.peak, total_steps=cfg.steps, final_div_factor=1e9)
    loader = torch.utils.data.DataLoader(Castings(cfg), batch_size=cfg.batch)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    bar, kept = tqdm(loader, total=cfg.steps, desc="pores", mininterval=1), []
    for step, (x, y) in enumerate(bar, 1):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        lr = schedule.get_last_lr()[0]
        schedule.step()
        kept.append(loss.item())
        if step % 10 == 0:
            row = {"bce": round(sum(kept[-10:]) / 10, 5), "lr": float(f"{lr:.1e}")}
            bar.set_postfix(bce=f"{row['bce']:.5f}", lr=f"{lr:.1e}")
            bar.write(f"step {step} bce {row['bce']:.5f} lr {lr:.1e}")
            logged(step, **row)


if __name__ == "__main__":
    main()
