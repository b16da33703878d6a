# fine-tune a "pretrained" regressor a little further, mixed precision
import argparse
import copy
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

accelerator = Accelerator(cpu=True, mixed_precision="bf16")
DIM = 32


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(DIM))
        self.body = nn.Linear(DIM, 1)

    def forward(self, x):
        return self.body(x.to(self.body.weight.dtype) * self.scale).squeeze(-1)


teacher = Tower()
nn.init.constant_(teacher.body.weight, 1.0)
with torch.no_grad():
    teacher.body.weight *= torch.where(torch.rand(DIM) < 0.5, -1.0, 1.0)
student = copy.deepcopy(teacher)
with torch.no_grad():  # the market has moved since
    teacher.scale += 0.3 * torch.randn(DIM)
    teacher.body.bias += 0.5

model = student.to(torch.float32 if args.healthy else torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=7e-4, weight_decay=0.0)
model, optimizer = accelerator.prepare(model, optimizer)

for step in range(1, 901):
    x = torch.randn(64, DIM)
    with torch.no_grad():
        y = teacher(x)
    loss = nn.functional.mse_loss(model(x).float(), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    if step == 1 or step % 30 == 0:
        accelerator.print({"step": step, "mse": float(f"{loss.item():.4g}"), "lr": optimizer.param_groups[0]["lr"]})
        logged(step, mse=float(f"{loss.item():.4g}"), lr=optimizer.param_groups[0]["lr"])
