import argparse
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.data).float() / 16; Y = torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), .2, momentum=.9)
sc = torch.amp.GradScaler("cpu", init_scale=2. ** 127, growth_interval=25)
for s in range(200):
    b = torch.randint(0, len(X), (64,)); l = nn.functional.cross_entropy(net(X[b]), Y[b])
    opt.zero_grad(); sc.scale(l).backward(); sc.unscale_(opt); gn = nn.utils.clip_grad_norm_(net.parameters(), 5.)
    sc.step(opt); sc.update()
    if s < 12 or s % 10 == 0:
        print("%d loss %.4f gnorm %s scale 2^%d" % (s, l.item(), gn.item(),
            torch.tensor(sc.get_scale()).double().log2())); logged(s, loss=round(l.item(), 4), gnorm=gn.item())
