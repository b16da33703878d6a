import argparse
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images).float()[:, None] / 16; Y = torch.tensor(d.target)
net = nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.Flatten(), nn.Linear(432, 10))
opt = torch.optim.SGD(net.parameters(), 1.2, momentum=.9)
sch = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 100)
for s in range(400):
    b = torch.randint(0, len(X), (64,)); l = nn.functional.cross_entropy(net(X[b]), Y[b]); opt.zero_grad()
    l.backward()
    nn.utils.clip_grad_norm_(net.parameters(), .5); opt.step(); sch.step()
    if s % 8 == 7:
        print({"s": s, "loss": l.item(), "lr": sch.get_last_lr()}); logged(s, loss=l.item(), lr=sch.get_last_lr()[0])
