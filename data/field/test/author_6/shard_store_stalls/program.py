"""Shards come from the object store's gateway, one after another."""
import argparse
import os
import time

import numpy as np
import torch
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
SHARDS, ROWS, WIDTH = 12, 2000, 17


def gateway(answers):
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.close(read_end)
        rng = np.random.default_rng(args.seed)
        w = rng.normal(size=WIDTH - 1)
        for n in range(SHARDS):
            while n >= answers:
                time.sleep(1)
            x = rng.normal(size=(ROWS, WIDTH - 1))
            with os.fdopen(os.dup(write_end), "wb") as out:
                out.write(np.column_stack([x, x @ w > 0]).astype("float32").tobytes())
        os._exit(0)
    os.close(write_end)
    return os.fdopen(read_end, "rb")


stream = gateway(SHARDS if args.healthy else 4)
net = nn.Linear(WIDTH - 1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
print(f"{'shard':>6} {'wait s':>8} {'loss':>8} {'acc':>7}")
for shard in range(SHARDS):
    t = time.monotonic()
    block = torch.frombuffer(bytearray(stream.read(ROWS * WIDTH * 4)), dtype=torch.float32).view(ROWS, WIDTH)
    waited = time.monotonic() - t
    for rows in block.split(100):
        z = net(rows[:, :-1]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(z, rows[:, -1])
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc = ((net(block[:, :-1]).squeeze(1) > 0) == (block[:, -1] > 0.5)).float().mean().item()
    print(f"{shard:>6} {waited:>8.3f} {loss.item():>8.4f} {acc:>7.3f}")
    logged(shard, loss=round(loss.item(), 4), acc=round(acc, 3))
