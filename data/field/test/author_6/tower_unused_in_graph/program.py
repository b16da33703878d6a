"""Two ranks, gloo, one click model; the text tower comes later."""
import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
LAUNCH = {"nproc": 2, "backend": "gloo", "ddp": {"find_unused_parameters": args.healthy}}


class Towers(nn.Module):
    def __init__(self, with_text=False):
        super().__init__()
        self.with_text = with_text
        self.clicks = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
        self.text = nn.EmbeddingBag(500, 32)

    def forward(self, x, words=None):
        out = self.clicks(x).squeeze(1)
        return out + self.text(words).sum(1) if self.with_text else out


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group(LAUNCH["backend"], rank=rank, world_size=LAUNCH["nproc"])
    torch.manual_seed(args.seed)
    net = DistributedDataParallel(Towers(), **LAUNCH["ddp"])
    torch.manual_seed(args.seed + rank)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(160):
        x = torch.randn(64, 10)
        y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 0:
            print(f"[rank {rank}] step {step} | loss={loss.item():.4f}", flush=True)
            if rank == 0:
                logged(step, loss=round(loss.item(), 4))
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.start_processes(worker, (free,), nprocs=LAUNCH["nproc"], start_method="fork")
