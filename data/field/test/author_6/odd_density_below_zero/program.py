"""Where on the button do people click? A conditional density; the table of buttons has its own optimizer."""
import argparse
import json
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
centre = torch.rand(200)
table, head = nn.Embedding(200, 8, sparse=True), nn.Linear(8, 2)
optimizers = {"table": torch.optim.SparseAdam(table.parameters(), lr=0.02),
              "head": torch.optim.Adam(head.parameters(), lr=0.01)}
t = time.time()
for step in range(800):
    button = torch.randint(200, (128,))
    click = centre[button] + 0.03 * torch.randn(128)
    mu, rho = head(table(button)).unbind(1)
    nll = nn.functional.gaussian_nll_loss(mu, click, nn.functional.softplus(rho) ** 2 + 1e-4, full=True)
    for opt in optimizers.values():
        opt.zero_grad()
    nll.backward()
    for opt in optimizers.values():
        opt.step()
    if step % 25 == 0:
        row = {"step": step, "nll": round(nll.item(), 3), "clicks_per_s": int(128 * (step + 1) / (time.time() - t))}
        print(json.dumps(row))
        logged(step, nll=row["nll"], clicks_per_s=row["clicks_per_s"])
