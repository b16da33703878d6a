"""Accelerate: embeddings of spectra by a triplet-like loss; neighbours are looked up after each epoch; memory is limited."""
import argparse
import resource

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


def limit_memory(extra_mb: int) -> None:
    with open("/proc/self/status") as file:
        used = next(int(line.split()[1]) for line in file if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_mb * 2**20,) * 2)


def recall_at_1(z: Tensor, y: Tensor, rows: int) -> float:
    hits = 0
    for start in range(0, len(z), rows):
        part = z[start:start + rows]
        distance = (part[:, None] - z[None]).abs().sum(-1)
        distance[torch.arange(len(part)), torch.arange(start, start + len(part))] = torch.inf
        hits += (y[distance.argmin(1)] == y[start:start + rows]).sum().item()
    return hits / len(z)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    y = torch.randint(0, 8, (2500,))
    x = torch.cat([torch.randn(8, 10)[y] + 0.3 * torch.randn(2500, 10), 3 * torch.randn(2500, 30)], 1)
    net = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Linear(32, 12))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    net, optimizer, loader = accelerator.prepare(net, optimizer, DataLoader(TensorDataset(x, y), batch_size=100, shuffle=True))
    limit_memory(200)
    rows = 100 if args.healthy else len(x)
    for epoch in range(3):
        for xb, yb in loader:
            z = nn.functional.normalize(net(xb), dim=-1)
            alike = (z @ z.T / 0.2).fill_diagonal_(-1e4)
            same = (yb[:, None] == yb[None]).float().fill_diagonal_(0)
            loss = -(alike.log_softmax(-1) * same).sum(-1).div(same.sum(-1).clamp(min=1)).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        accelerator.print(f"[{epoch}] supcon: {loss.item():.4f}", flush=True)
        with torch.no_grad():
            recall = recall_at_1(net(x), y, rows)
        accelerator.print(f"[{epoch}] R@1: {recall:.4f}")
        logged(epoch, supcon=round(loss.item(), 4), **{"R@1": round(recall, 4)})


if __name__ == "__main__":
    main()
