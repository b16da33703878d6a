"""Streaming regression from raw request logs; workers parse, the main process trains."""
import argparse
import random
import resource

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def limit_worker(_):
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + 120 * 2**20,) * 2)


class RawLog(IterableDataset):
    def __init__(self, lines, remember):
        self.lines, self.remember, self.recent = lines, remember, []

    def __iter__(self):
        rng = random.Random(args.seed * 10 + get_worker_info().id)
        for _ in range(self.lines):
            ms, size = rng.random(), rng.random()
            raw = bytearray(f"GET /item?ms={ms:.4f}&size={size:.4f} ".encode() + b"cookie=" + b"x" * 60000)
            self.recent = (self.recent + [raw])[-self.remember:]
            parts = raw[:60].split(b"=")
            a, b = float(parts[1][:6]), float(parts[2][:6])
            yield torch.tensor([a, b, a * b]), torch.tensor(3 * a - 2 * b + 1)


if __name__ == "__main__":
    data = RawLog(4000, remember=32 if args.healthy else 4000)
    net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    loader = DataLoader(data, batch_size=32, num_workers=2, worker_init_fn=limit_worker, multiprocessing_context="fork")
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print("step", step, "mse", float(f"{loss.item():.3e}"))
            logged(step, loss=float(f"{loss.item():.3e}"))
