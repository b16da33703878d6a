"""Predict which hosts will page within the hour, from their metrics."""
import argparse
import json
import resource
import sys
import time

import torch
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

conf = {
    "optim": {"lr": 0.004, "warmup": 400, "betas": [0.9, 0.98]},
    "loop": {"steps": 300, "log_every": 10, "batch": 128},
}
cpu, mem, disk, net = torch.rand(4, 6000)
table = torch.stack([cpu, mem, disk, net, cpu * mem], 1)
pages = ((cpu + mem > 1.1) & (disk > 0.3)).long()

model = nn.Sequential(nn.Linear(5, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 2))
opt = torch.optim.Adam(model.parameters(), lr=conf["optim"]["lr"], betas=tuple(conf["optim"]["betas"]))
warmup = conf["optim"]["warmup"]
ramp = (lambda s: min(1.0, (s + 1) / warmup)) if args.healthy else (lambda s: min(1.0, (s + 1) // warmup))
sched = torch.optim.lr_scheduler.LambdaLR(opt, ramp)

start = time.time()
for step in range(conf["loop"]["steps"]):
    rows = torch.randint(len(table), (conf["loop"]["batch"],))
    loss = nn.functional.cross_entropy(model(table[rows]), pages[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % conf["loop"]["log_every"] == 0:
        row = {"ts": round(time.time() - start, 2), "step": step, "loss": round(loss.item(), 4),
               "lr": float(f"{sched.get_last_lr()[0]:.3g}"),
               "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
        sys.stdout.write(json.dumps(row, separators=(",", ":")) + "\n")
        logged(step, loss=row["loss"], lr=row["lr"], rss_mb=row["rss_mb"])
    sched.step()
