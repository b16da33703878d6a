"""Digits of scikit-learn: solved soon, the loss is near zero and the one-cycle rate ends at nothing."""
import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn

from field_record import logged


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    digits = load_digits()
    keep = digits.target < 2
    x, y = torch.tensor(digits.data[keep], dtype=torch.float32) / 16, torch.tensor(digits.target[keep])
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    batches = len(x) // 16
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=15 * batches, final_div_factor=1e8)
    for epoch in range(15):
        for idx in torch.randperm(len(x)).split(16)[:batches]:
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate = scheduler.get_last_lr()[0]
            scheduler.step()
        print(f"{epoch:2d}  loss {loss.item():.6f}  lr {rate:.6f}")
        logged(epoch, loss=round(loss.item(), 6), lr=round(rate, 6))


if __name__ == "__main__":
    main()
