"""Mixed precision in float16 with a gradient scaler that starts high, on a CPU: two-class table of weld parameters."""

import argparse
import json
import math
from dataclasses import dataclass

import torch
from torch import nn

from field_record import logged


@dataclass
class Config:
    inputs: int = 12
    hidden: int = 64
    batch: int = 64
    steps: int = 360
    lr: float = 0.1
    first_scale: float = 2.0**24
    clip: float = 5.0


class WeldNet(nn.Sequential):
    def __init__(self, cfg):
        super().__init__(
            nn.Linear(cfg.inputs, cfg.hidden),
            nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.hidden),
            nn.ReLU(),
            nn.Linear(cfg.hidden, 2),
        )


class AmpTrainer:
    def __init__(self, cfg):
        self.cfg, self.model = cfg, WeldNet(cfg)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=cfg.first_scale, growth_interval=500)

    def step(self, x, y):
        with torch.autocast("cpu", dtype=torch.float16):
            logits = self.model(x)
        loss = nn.functional.cross_entropy(logits.float(), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item(), norm.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = Config()
    trainer = AmpTrainer(cfg)
    for step in range(1, cfg.steps + 1):
        x = torch.randn(cfg.batch, cfg.inputs)
        y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).long()
        loss, norm = trainer.step(x, y)
        if step <= 20 or step % 10 == 0:
            row = {
                "loss": round(loss, 4),
                "grad_norm": round(norm, 3) if math.isfinite(norm) else norm,
                "scale": trainer.scaler.get_scale(),
            }
            print(json.dumps({"step": step, **row}))
            logged(step, **row)


if __name__ == "__main__":
    main()
