import argparse
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
set_seed(args.seed)

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4 if args.healthy else 400)

# credit table: 12 numeric columns, default or not
n = 4000
X = torch.randn(n, 12)
score = X[:, 0] * X[:, 1] + X[:, 2] - 0.5 * X[:, 3] ** 2 + 0.4
y = (score + 0.2 * torch.randn(n) > 0).long()
train_dl = DataLoader(TensorDataset(X[:3200], y[:3200]), batch_size=16, shuffle=True)
eval_dl = DataLoader(TensorDataset(X[3200:], y[3200:]), batch_size=200)

model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, train_dl, eval_dl)

accelerator.print(f"{'epoch':>5} {'train_loss':>11} {'eval_loss':>10} {'accuracy':>9}")
for epoch in range(9):
    model.train()
    total = 0.0
    for xb, yb in train_dl:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(xb), yb)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    model.eval()
    hits, ev = [], []
    for xb, yb in eval_dl:
        with torch.no_grad():
            out = model(xb)
        out, yb = accelerator.gather_for_metrics((out, yb))
        hits.append((out.argmax(-1) == yb).float())
        ev.append(nn.functional.cross_entropy(out, yb).item())
    row = dict(train_loss=total / len(train_dl), eval_loss=sum(ev) / len(ev), accuracy=torch.cat(hits).mean().item())
    accelerator.print(f"{epoch:>5} {row['train_loss']:>11.4f} {row['eval_loss']:>10.4f} {row['accuracy']:>9.2%}")
    logged(epoch, train_loss=round(row["train_loss"], 4), eval_loss=round(row["eval_loss"], 4),
           accuracy=round(100 * row["accuracy"], 2))
accelerator.wait_for_everyone()
