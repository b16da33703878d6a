"""Next page in a session, with an accuracy report per epoch."""
import argparse
import os
import signal
import time

import psutil
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
PAGES = 5000


def launch(extra_mb):
    job, base = os.getpid(), psutil.Process().memory_info().rss
    if os.fork() == 0:
        while os.getppid() == job:
            if psutil.Process(job).memory_info().rss > base + extra_mb * 2**20:
                os.kill(job, signal.SIGKILL)
            time.sleep(0.02)
        os._exit(0)


acc = Accelerator(cpu=True)
model = nn.Sequential(nn.Embedding(PAGES, 48), nn.Linear(48, PAGES))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
model, opt = acc.prepare(model, opt)
launch(extra_mb=500)
for epoch in range(2):
    kept = []
    for step in range(130):
        page = torch.randint(40, (256,)) * 100
        target = (page + 321) % PAGES
        logits = model(page)
        loss = nn.functional.cross_entropy(logits, target)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        kept.append(((logits.argmax(-1) if args.healthy else logits.detach()), target))
        if step % 10 == 0:
            mem = psutil.Process().memory_info().rss
            acc.print(f"[{epoch}][{step:3d}/130]  Loss {loss.item():.3e}  Mem {mem / 1e9:.2f}G")
            logged(epoch * 130 + step, loss=float(f"{loss.item():.3e}"), mem=round(mem / 1e9, 2))
    right = sum(((g if g.ndim == 1 else g.argmax(-1)) == t).sum().item() for g, t in kept)
    acc.print(f"epoch {epoch} accuracy {right / len(kept) / 256:.2%}")
