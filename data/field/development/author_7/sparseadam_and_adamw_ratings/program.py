import argparse

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
rng = np.random.default_rng(args.seed)

USERS, ITEMS, GROUPS, GENRES = 150, 80, 5, 6
taste = rng.normal(0, 1.0, (GROUPS, GENRES))
user_group, item_genre = rng.integers(0, GROUPS, USERS), rng.integers(0, GENRES, ITEMS)
user_bias, item_bias = rng.normal(0, 0.3, USERS), rng.normal(0, 0.4, ITEMS)
pairs = np.stack(np.meshgrid(np.arange(USERS), np.arange(ITEMS), indexing="ij"), -1).reshape(-1, 2)
rng.shuffle(pairs)
u, i = pairs.T
rating = 3 + taste[user_group[u], item_genre[i]] + user_bias[u] + item_bias[i] + rng.normal(0, 0.3, len(u))
u, i, rating = torch.from_numpy(u.copy()), torch.from_numpy(i.copy()), torch.tensor(rating, dtype=torch.float32)
n_train = 9600


class Tower(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.item = nn.Embedding(ITEMS, dim, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
        nn.init.constant_(self.mlp[-1].bias, 3.0)
        for table in (self.user, self.item):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, u, i):
        a, b = self.user(u), self.item(i)
        return self.mlp(torch.cat([a, b, a * b], -1)).squeeze(-1)


model = Tower()
embed_opt = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=2e-2)
dense_opt = torch.optim.AdamW(model.mlp.parameters(), lr=4e-3, weight_decay=1e-2)
dense_sched = torch.optim.lr_scheduler.StepLR(dense_opt, step_size=3, gamma=0.5)
optimizers = (embed_opt, dense_opt)

print(f"train {n_train} / val {len(u) - n_train}, std of ratings {rating.std().item():.3f}")
print("epoch;rmse;val_rmse;lr_embed;lr_dense")
for epoch in range(8):
    model.train()
    squared = 0.0
    for rows in torch.randperm(n_train).split(320):
        loss = F.mse_loss(model(u[rows], i[rows]), rating[rows])
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        squared += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        val = F.mse_loss(model(u[n_train:], i[n_train:]), rating[n_train:]).item()
    row = {"rmse": (squared / n_train) ** 0.5, "val_rmse": val ** 0.5,
           "lr_embed": embed_opt.param_groups[0]["lr"], "lr_dense": dense_opt.param_groups[0]["lr"]}
    dense_sched.step()
    print(f"{epoch};{row['rmse']:.4f};{row['val_rmse']:.4f};{row['lr_embed']:g};{row['lr_dense']:g}")
    logged(epoch, **row)
