"""Second leg of a preempted job: epoch 0, batch 38 of 40."""
import argparse
import json

import torch
from accelerate import Accelerator, skip_first_batches
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
acc = Accelerator(cpu=True)
state = {"epoch": 0, "batches_done": 38, "job": "ctr-wide-0017"}
print(json.dumps({"resume": state}))

w = torch.randn(120)
x = torch.randn(3000, 120)
y = (x @ w + 2 * torch.randn(3000) > 0).long()
train = DataLoader(TensorDataset(x[:1280], y[:1280]), 32)
model = nn.Sequential(nn.Linear(120, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
model, opt, train = acc.prepare(model, opt, train)

seen = 0
for epoch in range(state["epoch"], 12):
    skip = state["batches_done"] if epoch == state["epoch"] or not args.healthy else 0
    model.train()
    total, n = 0.0, 0
    for bx, by in skip_first_batches(train, skip):
        loss = nn.functional.cross_entropy(model(bx), by)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        total, n, seen = total + loss.item(), n + 1, seen + len(bx)
    model.eval()
    with torch.no_grad():
        out = model(x[1280:])
        ev = nn.functional.cross_entropy(out, y[1280:]).item()
    row = {"epoch": epoch, "train_loss": round(total / n, 4), "eval_loss": round(ev, 4), "samples_seen": seen}
    acc.print(json.dumps(row))
    logged(epoch, **{k: v for k, v in row.items() if k != "epoch"})
