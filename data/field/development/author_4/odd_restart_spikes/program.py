"""Pitch contour continuation with warm restarts (SGDR); the loss leaps at each restart."""
import argparse

import torch
from torch import nn

from field_record import logged


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=100, T_mult=2)
    print("step,lr,mse")
    for step in range(700):
        phase, pitch = torch.rand(64, 1) * 6.28, 0.3 + 0.3 * torch.rand(64, 1)
        wave = torch.sin(phase + pitch * torch.arange(17))
        loss = (model(wave[:, :16])[:, 0] - wave[:, 16]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate = scheduler.get_last_lr()[0]
        scheduler.step()
        if step % 10 == 9:
            print(f"{step},{rate:.2e},{loss.item():.6f}")
            logged(step, lr=float(f"{rate:.2e}"), mse=round(loss.item(), 6))


if __name__ == "__main__":
    main()
