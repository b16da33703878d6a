"""Run time of a cluster job from its request."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
run = {"epochs": 5, "batch_size": 50, "max_lr": 0.02}

cpus, gpus, rows_m = torch.randint(1, 33, (3000,)), torch.randint(0, 9, (3000,)), torch.rand(3000) * 4
target = rows_m * 2 - 0.05 * cpus - 0.3 * gpus + 0.1 * torch.randn(3000)
inputs = torch.stack([cpus / 32, gpus / 8, rows_m / 4], 1)

acc = Accelerator(cpu=True)
model = nn.Sequential(nn.Linear(3, 48), nn.SiLU(), nn.Linear(48, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(inputs, target), run["batch_size"], shuffle=True)
total = len(loader) * (run["epochs"] if args.healthy else 1)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=run["max_lr"], total_steps=total)
model, opt, loader = acc.prepare(model, opt, loader)
acc.print(f"world={acc.num_processes} device={acc.device} mixed={acc.mixed_precision}")

step = 0
for epoch in range(run["epochs"]):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        acc.backward(loss)
        opt.step()
        sched.step()
        opt.zero_grad()
        step += 1
        if step % 10 == 0:
            acc.print(f"epoch:{epoch}\tstep:{step}\tlr:{sched.get_last_lr()[0]:.6f}\tmse:{loss.item():.5f}")
            logged(step, mse=round(loss.item(), 5), lr=round(sched.get_last_lr()[0], 6))
