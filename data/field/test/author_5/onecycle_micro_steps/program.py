import argparse, math
import torch, torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
a.add_argument("--accum", type=int, default=4); a.add_argument("--epochs", type=int, default=5)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)


def rings(n):  # images 16x16: disc / ring / square
    g = torch.stack(torch.meshgrid(torch.arange(16.), torch.arange(16.), indexing="ij"))
    y = torch.randint(0, 3, (n,)); c = torch.rand(n, 2, 1, 1) * 6 + 5; r = torch.rand(n, 1, 1) * 2 + 3
    d = ((g[None] - c) ** 2).sum(1).sqrt(); q = (g[None] - c).abs().amax(1)
    im = torch.where((y == 0)[:, None, None], (d < r).float(), torch.where((y == 1)[:, None, None],
        ((d < r) & (d > r - 1.5)).float(), (q < r).float()))
    return (im + .2 * torch.randn_like(im))[:, None], y


X, Y = rings(1536)
net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, padding=1),
    nn.ReLU(),
                    nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(96, 3))
mb = 24
nb = len(X) // mb
opt = torch.optim.SGD(net.parameters(), lr=.05, momentum=.9)
per_epoch = nb if args.healthy else math.ceil(nb / args.accum)
sched = OneCycleLR(opt, max_lr=.1, total_steps=per_epoch * args.epochs)
s = 0
for ep in range(args.epochs):
    idx = torch.randperm(len(X)); tot = 0.; hit = 0
    for i in range(nb):
        j = idx[i * mb:(i + 1) * mb]
        o = net(X[j]); l = nn.functional.cross_entropy(o, Y[j]); (l / args.accum).backward()
        if (i + 1) % args.accum == 0:
            opt.step(); opt.zero_grad()
        sched.step(); s += 1
        tot += l.item(); hit += (o.argmax(1) == Y[j]).sum().item()
        if s % 16 == 0:
            print(s, "%.4f" % l.item(), "%.2e" % sched.get_last_lr()[0])
            logged(s, loss=l.item(), lr=sched.get_last_lr()[0])
    print(f"ep{ep}\tL={tot / nb:.4g}\tacc={100 * hit / nb / mb:.1f}%"); logged(s, train_acc=100 * hit / nb / mb)
