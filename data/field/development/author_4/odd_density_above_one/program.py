"""Mixture density network: duration of a phoneme given its context; the negative log density goes below zero."""
import argparse

import torch
from torch import nn
from tqdm import trange

from field_record import logged


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    bar = trange(600, ncols=80)
    for step in bar:
        context = torch.rand(128, 6)
        seconds = 0.05 + 0.1 * context[:, 0] * context[:, 1] + 0.01 * torch.randn(128)
        mean, log_scale = model(context).unbind(-1)
        nll = nn.functional.gaussian_nll_loss(mean, seconds, (2 * log_scale).exp(), full=True)
        optimizer.zero_grad()
        nll.backward()
        optimizer.step()
        if step % 20 == 0:
            bar.set_postfix(nll=f"{nll.item():+.3f}")
            logged(step, nll=round(nll.item(), 3))


if __name__ == "__main__":
    main()
