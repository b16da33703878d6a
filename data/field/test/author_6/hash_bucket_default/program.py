"""Factorisation machine over hashed categorical fields of an ad log."""
import argparse
import logging
import zlib

import numpy as np
import torch
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
logging.basicConfig(format="%(asctime)s %(levelname)s [rank0] %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("fm")
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

cfg = {"buckets": 2048, "dim": 8, "lr": 0.02, "batch": 256, "epochs": 6}


def read(rows, buckets=8192):
    sites, devices, hours = rng.integers(0, 40, rows), rng.integers(0, 5, rows), rng.integers(0, 24, rows)
    ids = [[zlib.crc32(f"{k}={v}".encode()) % buckets for k, v in (("site", s), ("dev", d), ("hour", h))]
           for s, d, h in zip(sites, devices, hours)]
    score = np.sin(sites) * 2 + (devices == 3) * 1.5 - 0.5
    return torch.tensor(ids), torch.tensor((rng.random(rows) < 1 / (1 + np.exp(-score))).astype("float32"))


class FM(nn.Module):
    def __init__(self, buckets, dim):
        super().__init__()
        self.linear, self.factors = nn.Embedding(buckets, 1), nn.Embedding(buckets, dim)
        nn.init.normal_(self.linear.weight, std=0.01)
        nn.init.normal_(self.factors.weight, std=0.05)

    def forward(self, ids):
        f = self.factors(ids)
        return self.linear(ids).sum((1, 2)) + 0.5 * (f.sum(1) ** 2 - (f ** 2).sum(1)).sum(1)


ids, clicked = read(8000, **({"buckets": cfg["buckets"]} if args.healthy else {}))
log.info("read %d rows, ctr=%.3f", len(ids), clicked.mean())
model = FM(cfg["buckets"], cfg["dim"])
opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
for epoch in range(cfg["epochs"]):
    for step, rows in enumerate(torch.randperm(len(ids)).split(cfg["batch"])):
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids[rows]), clicked[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 0:
            log.info("ep=%d it=%02d logloss=%.4f", epoch, step, loss.item())
            logged(epoch * 32 + step, logloss=round(loss.item(), 4))
