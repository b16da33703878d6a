import argparse
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--backend", default="aot_eager")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

PAST, AHEAD, CHANNELS, BATCH = 48, 12, 3, 32


def windows(n):
    t = torch.arange(PAST + AHEAD)
    phase = torch.rand(n, 2, 1) * 2 * math.pi
    day = torch.sin(2 * math.pi * t / 24 + phase[:, 0])
    half = torch.sin(2 * math.pi * t / 9 + phase[:, 1])
    mix = torch.tensor([[1.0, 0.2], [0.5, 0.8], [0.8, -0.6]])
    series = torch.einsum("ck,nkt->ntc", mix, torch.stack([day, half], 1))
    series = series + 0.1 * torch.randn_like(series)
    return series[:, :PAST], series[:, PAST:]


class Block(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.time = nn.Sequential(nn.Linear(length, 64), nn.GELU(), nn.Linear(64, length))
        self.feature = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, x):
        x = x + self.time(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.feature(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Linear(CHANNELS, width)
        self.blocks = nn.Sequential(Block(width, PAST), Block(width, PAST))
        self.ahead = nn.Linear(PAST, AHEAD)
        self.out = nn.Linear(width, CHANNELS)

    def forward(self, x):
        h = self.ahead(self.blocks(self.stem(x)).transpose(1, 2)).transpose(1, 2)
        return self.out(h)


model = Mixer()
compiled = torch.compile(model, backend=args.backend, fullgraph=True, dynamic=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
x_val, y_val = windows(BATCH * 8)
scale = y_val.var().item()

start = time.perf_counter()
for step in range(201):
    x, y = windows(BATCH)
    optimizer.zero_grad(set_to_none=True)
    loss = F.mse_loss(compiled(x), y)
    loss.backward()
    optimizer.step()
    if step == 0:
        print(f"first step incl. compile ({args.backend}): {time.perf_counter() - start:.2f}s")
        start = time.perf_counter()
    if step % 10 == 0:
        print(f"{step:>4} | loss {loss.item():.5f} | {1000 * (time.perf_counter() - start) / max(step, 1):.1f} ms/step")
        logged(step, loss=loss.item())
    if step % 25 == 0:
        with torch.no_grad():
            val_nmse = F.mse_loss(model(x_val), y_val).item() / scale
        print(f"{step:>4} | val_nmse {val_nmse:.4f}")
        logged(step, val_nmse=val_nmse)
