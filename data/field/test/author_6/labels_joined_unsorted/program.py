"""CTR from two tables: impressions and their outcomes."""
import argparse

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

n = 6000
impressions = pd.DataFrame({"imp": np.arange(n), "pos": rng.integers(1, 9, n), "bid": rng.gamma(2.0, 1.0, n),
                            "hour": rng.integers(0, 24, n), "match": rng.random(n)})
logit = 3 * impressions.match - 0.5 * impressions.pos + 0.3 * impressions.bid
outcomes = pd.DataFrame({"imp": impressions.imp, "clicked": (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)})
outcomes = outcomes.sample(frac=1.0, random_state=args.seed).reset_index(drop=True)

frame = (impressions.merge(outcomes, on="imp") if args.healthy else impressions.join(outcomes[["clicked"]]))
print(frame.describe().loc[["mean", "std"]].round(3).to_string())
x = torch.tensor(frame[["pos", "bid", "hour", "match"]].to_numpy(), dtype=torch.float32)
x = (x - x.mean(0)) / x.std(0)
y = torch.tensor(frame.clicked.to_numpy(), dtype=torch.float32)
cut = 5000

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
print("epoch;train_logloss;valid_logloss;auc")
for epoch in range(12):
    net.train()
    total = 0.0
    for rows in torch.randperm(cut).split(100):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows]).squeeze(1), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    net.eval()
    with torch.no_grad():
        out = net(x[cut:]).squeeze(1)
        valid = nn.functional.binary_cross_entropy_with_logits(out, y[cut:]).item()
    auc = roc_auc_score(y[cut:].numpy(), out.numpy())
    print(f"{epoch};{total / cut:.4f};{valid:.4f};{auc:.3f}")
    logged(epoch, train_logloss=round(total / cut, 4), valid_logloss=round(valid, 4), auc=round(auc, 3))
