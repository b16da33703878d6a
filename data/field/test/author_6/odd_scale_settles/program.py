"""Fraud flags in float16 autocast with a loss scale."""
import argparse

import torch
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**126, growth_interval=1000)
for step in range(300):
    x = torch.randn(128, 8)
    y = (x[:, 0] * 2 + x[:, 1] - x[:, 2] > 0).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(out.float(), y) * 1.0
    opt.zero_grad()
    scaler.scale(loss * 16).backward()
    scaler.unscale_(opt)
    norm = nn.utils.clip_grad_norm_(net.parameters(), 10.0)
    scaler.step(opt)
    scaler.update()
    if step < 10 or step % 10 == 0:
        print(f"step {step:3d} loss {loss.item():.4f} gnorm {norm.item():.3f} scale {scaler.get_scale():.3g}")
        logged(step, loss=round(loss.item(), 4), gnorm=round(norm.item(), 3),
               scale=float(f"{scaler.get_scale():.3g}"))
