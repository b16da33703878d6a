# picks up from the last saved state: first 3 epochs, then the other 5
import argparse
import json
import os
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
CKPT = "out/state"


def session(first, last):
    set_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    x = torch.randn(2560, 8)
    y = (x[:, 0] * x[:, 1] - x[:, 2]).unsqueeze(-1)
    model = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    dl = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model, opt, dl = accelerator.prepare(model, opt, dl)
    if os.path.isdir(CKPT):
        accelerator.load_state(CKPT)
        accelerator.print(f"Resuming from {CKPT}, skipping {first} epochs")
    for epoch in range(first, last):
        for i, (xb, yb) in enumerate(dl):
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            accelerator.backward(loss)
            opt.step()
            step = epoch * len(dl) + i + 1
            if step % 20 == 0:
                accelerator.print(json.dumps({"step": step, "epoch": epoch, "mse": round(loss.item(), 5)}))
                logged(step, mse=round(loss.item(), 5))
    accelerator.save_state(CKPT)
    accelerator.free_memory()


session(0, 3)
print("-" * 60)
session(3, 8)
