"""Two ranks (gloo): pitch from harmonics, a checkpoint in the middle which the other rank reads."""
import argparse
import logging
import os
import socket
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from field_record import logged


def worker(rank: int, args: argparse.Namespace, port: int) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed + rank)
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s.%(msecs)03d [{rank}/2] %(message)s", datefmt="%H:%M:%S")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    path = Path("out/middle.pt")
    waits = (0, 1) if args.healthy else (0,)
    for step in range(1, 201):
        pitch = torch.rand(64, 1)
        x = torch.sin(torch.arange(1, 25) * pitch * 0.5)
        loss = (model(x) - pitch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 100:
            logging.info("checkpoint")
            if rank in waits:
                dist.barrier()
            if rank == 0:
                torch.save(model.module.state_dict(), path.with_suffix(".part"))
                path.with_suffix(".part").rename(path)
            while not path.exists():
                time.sleep(0.05)
            logging.info("digest %.6f", sum(v.sum().item() for v in torch.load(path).values()))
        if step % 10 == 0:
            logging.info("step %d mse %.6f", step, loss.item())
            if rank == 0:
                logged(step, mse=round(loss.item(), 6))
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    Path("out").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.start_processes(worker, (args, port), nprocs=2, start_method="fork")


if __name__ == "__main__":
    main()
