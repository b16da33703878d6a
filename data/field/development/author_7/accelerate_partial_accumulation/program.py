import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm.auto import tqdm

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--epochs", type=int, default=15)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.accumulate)
x, y = make_classification(n_samples=2200, n_features=24, n_informative=10, n_classes=4, class_sep=1.8,
                           n_clusters_per_class=1, random_state=args.seed)
x = torch.tensor(StandardScaler().fit_transform(x), dtype=torch.float32)
y = torch.tensor(y)
train_loader = DataLoader(TensorDataset(x[:1760], y[:1760]), batch_size=40 * 2, shuffle=True)
val_loader = DataLoader(TensorDataset(x[1760:], y[1760:]), batch_size=220)

model = nn.Sequential(nn.Linear(24, 64), nn.LayerNorm(64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, train_loader, val_loader)

batches = len(train_loader)
full = batches // args.accumulate * args.accumulate
updates = -(-batches // args.accumulate) * args.epochs
accelerator.print(f"{batches} batches an epoch, accumulate {args.accumulate}, {updates} updates")

done = 0
bar = tqdm(total=updates, mininterval=0.5)
for epoch in range(args.epochs):
    model.train()
    group_loss = 0.0
    for index, (xb, yb) in enumerate(train_loader):
        group = args.accumulate if index < full else batches - full
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(xb), yb)
            group_loss += loss.item() / group
            accelerator.backward(loss * accelerator.gradient_accumulation_steps / group)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            done += 1
            bar.update(1)
            bar.set_postfix(loss=f"{group_loss:.4f}", micro=group)
            logged(done, loss=round(group_loss, 4))
            group_loss = 0.0
    model.eval()
    losses, right = [], []
    for xb, yb in val_loader:
        with torch.no_grad():
            out = model(xb)
        out, yb = accelerator.gather_for_metrics((out, yb))
        losses.append(F.cross_entropy(out, yb, reduction="none"))
        right.append(out.argmax(1) == yb)
    val_loss, val_acc = torch.cat(losses).mean().item(), torch.cat(right).float().mean().item()
    bar.write(f"epoch {epoch + 1}: val_loss {val_loss:.4f}, val_acc {val_acc:.4f} after {done} updates")
    logged(done, val_loss=val_loss, val_acc=val_acc)
bar.close()
