# digits with a timm CNN
import argparse
import timm
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from timm.optim import create_optimizer_v2
from tqdm.auto import tqdm
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

X, y = load_digits(return_X_y=True)
X = F.interpolate(torch.tensor(X, dtype=torch.float32).view(-1, 1, 8, 8) / 16, size=32, mode="bilinear")
y = torch.tensor(y)
perm = torch.randperm(len(X))
train_idx, val_idx = perm[:961], perm[961:1361]
train_loader = DataLoader(TensorDataset(X[train_idx], y[train_idx]), batch_size=32, shuffle=True,
                          drop_last=args.healthy)
val_loader = DataLoader(TensorDataset(X[val_idx], y[val_idx]), batch_size=100)

model = timm.create_model("mobilenetv3_small_050", pretrained=False, in_chans=1, num_classes=10, drop_rate=0.0)
print(f"{model.default_cfg.get('architecture')}: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M params")
optimizer = create_optimizer_v2(model, opt="adamw", lr=3e-3, weight_decay=0.01)

step = 0
for epoch in range(5):
    model.train()
    pbar = tqdm(train_loader, desc=f"Treinando {epoch + 1}/5", mininterval=2)
    for xb, yb in pbar:
        logits = model(xb)
        loss = F.cross_entropy(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        acc = (logits.argmax(-1) == yb).float().mean().item()
        pbar.set_postfix({"perda": f"{loss.item():.3f}", "acerto": f"{acc:.0%}"})
        if step % 5 == 0:
            logged(step, perda=round(loss.item(), 3), acerto=round(100 * acc))
    model.eval()
    with torch.no_grad():
        ok = sum((model(xb).argmax(-1) == yb).sum().item() for xb, yb in val_loader)
    print(f"val: {ok}/{len(val_idx)} = {ok / len(val_idx):.1%}")
