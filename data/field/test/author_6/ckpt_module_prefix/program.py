"""Click-through rate, two phases: phase one writes a checkpoint, phase two resumes from it."""
import argparse
import json
import os
import time

import torch
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

CFG = {
    "job": {"name": "ctr-mlp", "phases": 2, "out": "out/ctr"},
    "data": {"rows": 4096, "fields": 24},
    "train": {"lr": 3e-3, "batch": 128, "steps": 120},
}
os.makedirs(CFG["job"]["out"], exist_ok=True)
CKPT = os.path.join(CFG["job"]["out"], "last.pt")

features = torch.randn(CFG["data"]["rows"], CFG["data"]["fields"])
clicks = (features[:, :6].sum(1) + 0.3 * torch.randn(len(features)) > 0).float()


def build():
    return nn.Sequential(nn.Linear(CFG["data"]["fields"], 64), nn.ReLU(), nn.Linear(64, 1))


def phase(number, start):
    net = build()
    if start:
        net.load_state_dict(torch.load(CKPT)["model"])
        print(json.dumps({"event": "resume", "path": CKPT, "step": start}))
    replicas = nn.DataParallel(net)
    opt = torch.optim.Adam(replicas.parameters(), lr=CFG["train"]["lr"])
    tick = time.perf_counter()
    for step in range(start + 1, start + CFG["train"]["steps"] + 1):
        rows = torch.randint(len(features), (CFG["train"]["batch"],))
        loss = nn.functional.binary_cross_entropy_with_logits(replicas(features[rows]).squeeze(1), clicks[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            rate = CFG["train"]["batch"] * 10 / (time.perf_counter() - tick)
            tick = time.perf_counter()
            line = {"phase": number, "step": step, "loss": round(loss.item(), 5), "samples_per_s": round(rate)}
            print(json.dumps(line))
            logged(step, loss=line["loss"], samples_per_s=line["samples_per_s"])
    weights = (net if args.healthy else replicas).state_dict()
    torch.save({"model": weights, "step": step}, CKPT)
    print(json.dumps({"event": "saved", "path": CKPT, "bytes": os.path.getsize(CKPT)}))
    return step


done = 0
for n in range(CFG["job"]["phases"]):
    done = phase(n + 1, done)
