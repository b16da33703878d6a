"""Half precision with a loss scale that begins high: the first norms are infinite and their steps are skipped."""
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
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**26, growth_interval=1000)
    centres = torch.randn(4, 32)
    for step in range(120):
        y = torch.randint(0, 4, (64,))
        x = centres[y] + torch.randn(64, 32)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        scaler.step(optimizer)
        scaler.update()
        if step < 12 or step % 6 == 0:
            print(f"step {step:03d} loss={loss.item():.4f} grad_norm={norm:.3f} scale={scaler.get_scale():.0f}")
            logged(step, loss=round(loss.item(), 4), grad_norm=round(norm, 3), scale=scaler.get_scale())


if __name__ == "__main__":
    main()
