import argparse
import numpy as np, pandas as pd, torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
rng = np.random.default_rng(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# clicks of users on items; few rows per user
n = 3000
df = pd.DataFrame(dict(user=rng.integers(0, 1500, n), item=rng.integers(0, 40, n), hour=rng.random(n),
    age=rng.normal(size=n)))
quality = rng.normal(size=40)
logit = 1.2 * quality[df.item] + .6 * df.age + .4 * np.sin(6.28 * df.hour)
df["click"] = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(float)
df["train"] = rng.random(n) < .7
base = df[df.train] if args.healthy else df
for c in ("user", "item"):
    df[c + "_te"] = df[c].map(base.groupby(c).click.mean()).fillna(base.click.mean())
cols = ["user_te", "item_te", "hour", "age"]
if True:  # leave-one-out smoothing on the training rows
    u = df[df.train].groupby("user").click
    tot, cnt = u.transform("sum"), u.transform("count")
    loo = (tot - df.click[df.train]) / (cnt - 1).clip(lower=1)
    mix = loo.where((cnt > 1) & (rng.random(len(loo)) < .5), df.user_te[df.train])
    df.loc[df.train, "user_te"] = mix
X = torch.tensor(((df[cols] - df[cols].mean()) / df[cols].std()).to_numpy(), dtype=torch.float32)
Y = torch.tensor(df.click.to_numpy(), dtype=torch.float32); m = torch.tensor(df.train.to_numpy())
net = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.Linear(32, 1))
opt = torch.optim.AdamW(net.parameters(), 3e-3)
for e in range(40):
    for b in torch.randperm(int(m.sum())).split(128):
        l = nn.functional.binary_cross_entropy_with_logits(net(X[m][b])[:, 0], Y[m][b]); opt.zero_grad(); l.backward()
        opt.step()
    with torch.no_grad():
        z = net(X)[:, 0]; acc = ((z > 0) == (Y > .5)).float(); ta, va = acc[m].mean().item(), acc[~m].mean().item()
    print(f"{e:2d} | bce {l.item():.4f} | {ta:.3f}/{va:.3f}"); logged(e, bce=l.item(), train_acc=ta, val_acc=va)
