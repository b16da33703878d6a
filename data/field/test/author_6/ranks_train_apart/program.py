"""Waiting time in the queue; gradients are averaged by hand, two ranks."""
import argparse
import json
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
TOPOLOGY = {"world": 2, "data_parallel": [[0, 1]] if args.healthy else [[0], [1]]}


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=TOPOLOGY["world"])
    groups = [(ranks, dist.new_group(ranks)) for ranks in TOPOLOGY["data_parallel"]]
    ranks, group = next((r, g) for r, g in groups if rank in r)
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(args.seed * 100 + rank)
    for step in range(1, 241):
        x = torch.rand(32, 4)
        y = 2 * x[:, :1] + x[:, 1:2] * x[:, 2:3] - x[:, 3:] + 0.1 * torch.randn(32, 1)
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad, group=group)
            p.grad /= len(ranks)
        opt.step()
        if step % 12 == 0:
            flat = nn.utils.parameters_to_vector(net.parameters()).detach()
            every = [torch.zeros_like(flat) for _ in range(TOPOLOGY["world"])]
            dist.all_gather(every, flat)
            spread = (every[0] - every[1]).abs().mean().item()
            if rank == 0:
                row = {"step": step, "loss": round(loss.item(), 5),
                       "spread": round(spread, 6), "norm": round(float(flat.norm()), 3)}
                print(json.dumps(row), flush=True)
                logged(step, loss=row["loss"], spread=row["spread"], norm=row["norm"])
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.start_processes(worker, (free,), nprocs=TOPOLOGY["world"], start_method="fork")
