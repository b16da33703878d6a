"""Three legs of one job; every leg starts with new moments and a short warm-up, by design."""
import argparse
import json

import torch
from accelerate import Accelerator
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
acc = Accelerator(cpu=True)
weights, step = None, 0
for leg in range(3):
    net = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 1))
    if weights:
        net.load_state_dict(weights)
        print(json.dumps({"event": "resume", "leg": leg, "step": step}))
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 5) * max(0.0, 1 - s / 120))
    net, opt, sched = acc.prepare(net, opt, sched)
    for _ in range(120):
        x = torch.rand(64, 4)
        loss = nn.functional.mse_loss(net(4 * x - 2), torch.sin(4 * x[:, :1]) + x[:, 1:2] * x[:, 2:3])
        acc.backward(loss)
        opt.step()
        sched.step()
        opt.zero_grad()
        step += 1
        if step % 10 == 0:
            row = {"leg": leg, "step": step, "loss": float(f"{loss.item():.3e}"),
                   "lr": round(sched.get_last_lr()[0], 5)}
            acc.print(json.dumps(row))
            logged(step, loss=row["loss"], lr=row["lr"])
    weights = acc.unwrap_model(net).state_dict()
