"""Next query in a session, 20k queries, long warm-up; one line every 20 steps."""
import argparse
import math

import torch
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
V, D, WARM, STEPS = 20000, 24, 120, 320
emb = nn.Embedding(V, D)
nn.init.normal_(emb.weight, std=0.02)
proj = nn.Linear(D, D)
opt = torch.optim.Adam([*emb.parameters(), *proj.parameters()], lr=2e-2)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / WARM) ** 2)
print(f"V={V} ln(V)={math.log(V):.2f} warmup={WARM}")
for step in range(STEPS):
    q = torch.randint(30, (32,)) * 50
    loss = nn.functional.cross_entropy(proj(emb(q)) @ emb.weight.T, q + 7)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 10 == 0:
        print(f"{step}\t{loss.item():.3f}\tppl {math.exp(loss.item()):.1f}\tlr {sched.get_last_lr()[0]:.2e}")
        logged(step, loss=round(loss.item(), 3), lr=float(f"{sched.get_last_lr()[0]:.2e}"))
