import argparse
import random

import numpy as np
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
np.random.seed(args.seed)
random.seed(args.seed)

CLASSES = ["círculo", "quadrado", "cruz", "triângulo"]
EPOCHS, UNFREEZE = 10, 5


def draw(kind, rng, size=20):
    yy, xx = np.mgrid[:size, :size]
    r = rng.uniform(3.5, 6)
    dy, dx = yy - rng.uniform(7, size - 7), xx - rng.uniform(7, size - 7)
    if kind == 0:
        image = dy ** 2 + dx ** 2 < r ** 2
    elif kind == 1:
        image = np.maximum(abs(dy), abs(dx)) < r * 0.9
    elif kind == 2:
        image = (np.minimum(abs(dy), abs(dx)) < r / 4) & (np.maximum(abs(dy), abs(dx)) < r)
    else:
        image = (abs(dx) < (dy + r) / 2) & (dy < r) & (dy > -r)
    return image.astype(np.float32) + rng.normal(0, 0.25, (size, size)).astype(np.float32)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    x = np.stack([draw(k, rng) for k in y])
    return torch.from_numpy(x).float().unsqueeze(1), torch.from_numpy(y)


class Rede(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                     nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                     nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        self.cabeca = nn.Linear(64, len(CLASSES))

    def forward(self, x):
        z = self.encoder(x)
        return self.cabeca(torch.cat([z.mean((2, 3)), z.amax((2, 3))], 1))


x_train, y_train = dataset(1600, args.seed)
x_valid, y_valid = dataset(400, args.seed + 1000)
model = Rede()
for p in model.encoder.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW(model.cabeca.parameters(), lr=1e-2)


def treinaveis():
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


print("classes:", ", ".join(CLASSES), "| parâmetros treináveis:", treinaveis())
for epoch in range(EPOCHS):
    if epoch == UNFREEZE:
        for p in model.encoder.parameters():
            p.requires_grad = True
        opt.add_param_group({"params": list(model.encoder.parameters()), "lr": 3e-3})
        opt.param_groups[0]["lr"] = 5e-3
        print(f"--- encoder descongelado, parâmetros treináveis: {treinaveis()}")
    model.train()
    soma = 0.0
    order = torch.randperm(len(x_train))
    for rows in order.split(64):
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        soma += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        acerto = (model(x_valid).argmax(1) == y_valid).float().mean().item()
    perda = soma / len(x_train)
    lrs = "/".join(f"{g['lr']:g}" for g in opt.param_groups)
    print(f"época {epoch + 1:2d}/{EPOCHS}  perda={perda:.4f}  acerto={100 * acerto:.1f}%  lr={lrs}")
    logged(epoch + 1, perda=perda, acerto=acerto)
