import argparse
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
cfg = dict(lr=2e-2 if args.healthy else 9.0, mom=.9, bs=64, ep=8)
d = load_digits()
X = torch.tensor(d.images).float().div(8).sub(1)[:, None]; Y = torch.tensor(d.target)
i = torch.randperm(len(X)); X, Y = X[i], Y[i]; Xv, Yv, X, Y = X[1500:], Y[1500:], X[:1500], Y[:1500]
net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10))
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=cfg["mom"])
k = 0
for e in range(cfg["ep"]):
    for b in torch.randperm(1500).split(cfg["bs"]):
        l = nn.functional.cross_entropy(net(X[b]), Y[b])
        opt.zero_grad(); l.backward()
        gn = torch.stack([q.grad.norm() for q in net.parameters()]).norm()
        opt.step(); k += 1
        if k % 12 == 1:
            print(k, l.detach(), "g", gn); logged(k, loss=l.item(), g=gn.item())
    with torch.no_grad():
        v = net(Xv); vl, va = nn.functional.cross_entropy(v, Yv).item(), (v.argmax(1) == Yv).float().mean().item()
    print("=" * 10, dict(ep=e, vl=vl, va=round(va, 3))); logged(k, vl=vl, va=round(va, 3))
