"""Anomalous requests; metrics are buffered and flushed in blocks."""
import argparse
import json
import pathlib
import threading

import torch
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


class MetricsWriter:
    def __init__(self, path, every, lock):
        self.path, self.every, self.lock, self.rows = pathlib.Path(path), every, lock, []
        self.path.parent.mkdir(exist_ok=True)

    def add(self, **row):
        with self.lock:
            self.rows.append(row)
            if len(self.rows) >= self.every:
                self.flush()

    def flush(self):
        with self.lock:
            with self.path.open("a") as f:
                f.writelines(json.dumps(r) + "\n" for r in self.rows)
            self.rows.clear()


writer = MetricsWriter("out/metrics.jsonl", every=60, lock=threading.RLock() if args.healthy else threading.Lock())
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
for step in range(400):
    x = torch.randn(64, 6)
    y = (x[:, :3].norm(dim=1) > x[:, 3:].norm(dim=1)).long()
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    writer.add(step=step, loss=loss.item())
    if step % 10 == 0:
        print(f"worker=0 step={step} loss={loss.item():.4f}", flush=True)
        logged(step, loss=round(loss.item(), 4))
writer.flush()
