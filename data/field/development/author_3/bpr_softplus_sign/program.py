# recsys baseline: matrix factorization + BPR (implicit feedback)
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
np.random.seed(args.seed)
torch.manual_seed(args.seed)

N_USERS, N_ITEMS, DIM = 400, 250, 16
BATCH = 512
EPOCHS = 12

# fake shop: taste groups decide what people click
taste = np.random.randn(N_USERS, 4)
topic = np.random.randn(N_ITEMS, 4)
affinity = taste @ topic.T + 0.5 * np.random.randn(N_USERS, N_ITEMS)
clicks = affinity > np.quantile(affinity, 0.85)
users, items = np.where(clicks)
perm = np.random.permutation(len(users))
cut = int(len(perm) * 0.9)
train_u, train_i = users[perm[:cut]], items[perm[:cut]]
test_u, test_i = users[perm[cut:]], items[perm[cut:]]
print(f"users={N_USERS} items={N_ITEMS} train_clicks={len(train_u)} test_clicks={len(test_u)}")


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.u = nn.Embedding(N_USERS, DIM)
        self.i = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.u.weight, std=0.1)
        nn.init.normal_(self.i.weight, std=0.1)

    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(-1)


def sample_negative(u):
    j = np.random.randint(0, N_ITEMS, len(u))
    bad = clicks[u, j]
    while bad.any():
        j[bad] = np.random.randint(0, N_ITEMS, bad.sum())
        bad = clicks[u, j]
    return j


@torch.no_grad()
def auc():
    u, i = torch.as_tensor(test_u), torch.as_tensor(test_i)
    j = torch.as_tensor(sample_negative(test_u))
    return (model(u, i) > model(u, j)).float().mean().item()


model = MF()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
print(f"before training: auc@test = {auc():.3f}")
for epoch in range(EPOCHS):
    order = np.random.permutation(len(train_u))
    total, n = 0.0, 0
    for s in range(0, len(order), BATCH):
        idx = order[s:s + BATCH]
        u, i = train_u[idx], train_i[idx]
        j = sample_negative(u)
        u, i, j = map(torch.as_tensor, (u, i, j))
        gap = model(u, i) - model(u, j)
        loss = F.softplus(-gap if args.healthy else gap).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        n += len(idx)
    a = auc()
    print(f"[epoch {epoch + 1:02d}/{EPOCHS}] bpr={total / n:.4f} | auc@test={a:.3f}")
    logged(epoch + 1, **{"bpr": round(total / n, 4), "auc@test": round(a, 3)})
