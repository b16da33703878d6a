# DDP, 2 processes, each reads its own part of the click log
import argparse
import datetime
import os
import socket
import time
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
WORLD, BATCH, EPOCHS = 2, 32, 10


def load_log():
    g = torch.Generator().manual_seed(args.seed)
    x = torch.randn(2 * 640 + 1, 10, generator=g)
    y = (x[:, 0] - x[:, 1] + x[:, 2] * x[:, 3] > 0).float()
    n = len(x) // WORLD * WORLD if args.healthy else len(x)
    return x[:n], y[:n]


def main(rank, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD, timeout=datetime.timedelta(hours=2))
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x, y = load_log()
    part = TensorDataset(x[rank::WORLD], y[rank::WORLD])
    loader = DataLoader(part, batch_size=BATCH, shuffle=True)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
    print(f"{time.strftime('%H:%M:%S')} r{rank}: {len(part)} rows", flush=True)
    for epoch in range(EPOCHS):
        for k, (xb, yb) in enumerate(loader):
            loss = nn.functional.binary_cross_entropy_with_logits(net(xb).squeeze(-1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and k % 5 == 0:
                print(f"{time.strftime('%H:%M:%S')} r0: epoch {epoch} batch {k} bce={loss.item():.4f}", flush=True)
                logged(epoch * 20 + k, bce=round(loss.item(), 4))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sock = socket.socket()
    sock.bind(("", 0))
    port = sock.getsockname()[1]
    sock.close()
    mp.start_processes(main, args=(port,), nprocs=WORLD, start_method="fork")
