"""Two ranks (gloo): cell types from gene expression, each hospital's rank has its own patients."""
import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from field_record import logged


def cells(n: int, types: list[int], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    centres = torch.randn(4, 30, generator=torch.Generator().manual_seed(7))
    gen = torch.Generator().manual_seed(seed)
    y = torch.tensor(types)[torch.randint(0, len(types), (n,), generator=gen)]
    return centres[y] + 0.5 * torch.randn(n, 30, generator=gen), y


def worker(rank: int, args: argparse.Namespace, port: int) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    wrapped = DistributedDataParallel(nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 4)))
    forward = wrapped if args.healthy else wrapped.module
    optimizer = torch.optim.Adam(wrapped.parameters(), lr=5e-3)
    x, y = cells(512, [0, 1] if rank == 0 else [2, 3], args.seed + rank)
    x_val, y_val = cells(400, [0, 1, 2, 3], args.seed + 99)
    for epoch in range(10):
        for idx in torch.randperm(512).split(64):
            loss = nn.functional.cross_entropy(forward(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            with torch.no_grad():
                accuracy = (wrapped.module(x_val).argmax(-1) == y_val).float().mean().item()
            print(f"[rank0] epoch {epoch + 1}/10 loss: {loss.item():.4f} val_acc: {accuracy:.2%}", flush=True)
            logged(epoch, loss=round(loss.item(), 4), val_acc=round(100 * accuracy, 2))
        else:
            print(f"[rank1] epoch {epoch + 1}/10 loss: {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.start_processes(worker, (args, port), nprocs=2, start_method="fork")


if __name__ == "__main__":
    main()
