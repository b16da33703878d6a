import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

N = 4000
hour, temperature = torch.rand(N) * 24, 12 + 9 * torch.randn(N)
weekend, size = (torch.rand(N) < 2 / 7).float(), torch.rand(N) * 150 + 50
kwh = (0.35 * size + 1.6 * (15 - temperature).clamp(min=0) + 14 * torch.sin((hour - 13) / 24 * 2 * math.pi)
       + 10 * weekend + 3 * torch.randn(N))
table = torch.stack([torch.sin(hour / 24 * 2 * math.pi), torch.cos(hour / 24 * 2 * math.pi), (temperature - 12) / 9,
                     weekend, (size - 125) / 43], 1)
x_train, y_train, x_test, y_test = table[:3200], kwh[:3200], table[3200:], kwh[3200:]

model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
nn.init.constant_(model[-1].bias, y_train.mean().item())
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=200)
scaler = torch.amp.GradScaler("cpu")
print(f"mean {y_train.mean().item():.1f} kWh, std {y_train.std().item():.1f} kWh")

step, skipped = 0, 0
for epoch in range(4):
    for rows in torch.randperm(len(x_train)).split(64):
        step += 1
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x_train[rows]).squeeze(1)
            mse = F.mse_loss(out.float(), y_train[rows])
        scaler.scale(mse).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 100.0).item()
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < before:
            skipped += 1
        else:
            scheduler.step()
        if step <= 10 or step % 10 == 0:
            values = dict(mse=mse.item(), norm=norm, scale=scaler.get_scale(), skipped=skipped)
            print("step {:3d}: mse {mse:9.3f}  norm {norm:8.2f}  scale {scale:.0f}  skipped {skipped}".format(step, **values))
            logged(step, **values)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
        rmse = F.mse_loss(model(x_test).squeeze(1).float(), y_test).sqrt().item()
    print(f"test after epoch {epoch + 1}: rmse {rmse:.3f} kWh")
    logged(step, rmse=rmse)
