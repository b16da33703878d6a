"""Heartbeat classes from a cache on shared storage; another job of the site uses the same storage."""
import argparse
import fcntl
import multiprocessing as mp
import time
from pathlib import Path

import torch
from torch import nn

from field_record import logged


def neighbour(path: str, seconds: float, ready) -> None:
    """Some other user's job."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ready.set()
        time.sleep(seconds)


def read_shard(path: Path, lock: Path) -> tuple[torch.Tensor, torch.Tensor]:
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return torch.load(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    out = Path("out")
    out.mkdir(exist_ok=True)
    for shard in range(4):
        y = torch.randint(0, 3, (256,))
        torch.save((torch.randn(256, 20) + 2 * nn.functional.one_hot(y, 20), y), out / f"shard{shard}.pt")
    ready = mp.get_context("fork").Event()
    other = mp.get_context("fork").Process(target=neighbour, daemon=True,
                                           args=(str(out / "shard2.lock"), 0.5 if args.healthy else 3600.0, ready))
    other.start()
    ready.wait()
    model = nn.Linear(20, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    for epoch in range(3):
        for shard in range(4):
            x, y = read_shard(out / f"shard{shard}.pt", out / f"shard{shard}.lock")
            print(time.strftime("%H:%M:%S"), f"shard {shard} ready", flush=True)
            for idx in torch.randperm(256).split(16):
                loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
            print(time.strftime("%H:%M:%S"), f"epoch={epoch} step={step} loss={loss.item():.4f}", flush=True)
            logged(step, loss=round(loss.item(), 4))


if __name__ == "__main__":
    main()
