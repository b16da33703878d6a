"""Shapes with a small ResNet."""
import argparse
import time

import torch

import timm
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
CFG = {"model": "test_resnet", "size": 32, "steps_per_epoch": 8, "epochs": 6, "batch": 24,
       "bn_momentum": 0.1 if args.healthy else 1e-5}


def shapes(n):
    kind = torch.randint(4, (n,))
    image = 0.3 * torch.rand(n, 3, CFG["size"], CFG["size"])
    for i, k in enumerate(kind.tolist()):
        x, y = torch.randint(2, 16, (2,)).tolist()
        rows, cols = [(12, 12), (3, 12), (12, 3), (4, 4)][k]
        image[i, :, y:y + rows, x:x + cols] += 1.0
    return image * 4, kind


net = timm.create_model(CFG["model"], num_classes=4)
for module in net.modules():
    if isinstance(module, nn.BatchNorm2d):
        module.momentum = CFG["bn_momentum"]
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
held = shapes(128)
print(f"{CFG['model']}: {sum(p.numel() for p in net.parameters()):,} parameters")
for epoch in range(CFG["epochs"]):
    net.train()
    begin, total = time.time(), 0.0
    for _ in range(CFG["steps_per_epoch"]):
        x, y = shapes(CFG["batch"])
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / CFG["steps_per_epoch"]
    net.eval()
    with torch.no_grad():
        out = net(held[0])
        val = nn.functional.cross_entropy(out, held[1]).item()
    acc = 100 * (out.argmax(1) == held[1]).float().mean().item()
    rate = CFG["batch"] * CFG["steps_per_epoch"] / (time.time() - begin)
    print(f"Train: {epoch}  Loss: {total:.3f}  Rate: {rate:.1f}/s || Test: Loss: {val:.3f}  Acc@1: {acc:.2f}")
    logged(epoch, train_loss=round(total, 3), val_loss=round(val, 3), acc1=round(acc, 2))
