import argparse
import numpy as np
import timm
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("-b", type=int, default=16)
ap.add_argument("--epochs", type=int, default=4)
args = ap.parse_args()
rng = np.random.default_rng(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

def shape(kind, size=32):
    yy, xx = np.mgrid[:size, :size]
    cy, cx, r = *rng.integers(10, 22, 2), rng.integers(5, 9)
    m = [(yy - cy) ** 2 + (xx - cx) ** 2 < r * r, (abs(yy - cy) < r) & (abs(xx - cx) < r), (abs(yy - cy) < 2) | (abs(xx - cx) < 2)][kind]
    img = rng.normal(0, .2, (3, size, size)) + m * rng.uniform(.5, 1, (3, 1, 1))
    return img.astype(np.float32)

y = rng.integers(0, 3, 217)
x = torch.from_numpy(np.stack([shape(k) for k in y])); y = torch.from_numpy(y)
# the first 97 are for testing, the rest and their mirror images for training
train = TensorDataset(torch.cat([x[97:], x[97:-1].flip(-1), x[97:99].flip(-2)]), torch.cat([y[97:], y[97:-1], y[97:99]]))
loader = DataLoader(train, args.b, shuffle=True, drop_last=args.healthy)
model = timm.create_model("resnet10t", pretrained=False, num_classes=3)
opt = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=.02)
print(f"train {len(train)}  test 97  batches {len(loader)}  params {sum(p.numel() for p in model.parameters()) / 1e6:.1f}M")
for epoch in range(args.epochs):
    model.train()
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 5 == 0:
            print(f"Train: {epoch} [{i:>3d}/{len(loader)}]  Loss: {loss.item():#.3g}")
            logged(epoch * len(loader) + i, Loss=float(f"{loss.item():.3g}"))
    model.eval()
    with torch.no_grad():
        top1 = (model(x[:97]).argmax(1) == y[:97]).float().mean().item() * 100
    print(f"Test: {epoch}  Acc@1: {top1:.2f}")
    logged(epoch, **{"Acc@1": round(top1, 2)})
