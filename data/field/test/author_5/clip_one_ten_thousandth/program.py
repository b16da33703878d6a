import argparse
import torch, torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
# sum of two digit images (bags of pixels) -> regression as 19 classes
x = torch.randint(0, 10, (4000, 2))
X = torch.cat([nn.functional.one_hot(x[:, i], 10) for i in (0, 1)], 1).float() + .1 * torch.randn(4000, 20)
Y = x.sum(1)
acc = Accelerator(cpu=True, gradient_accumulation_steps=2)
net = nn.Sequential(nn.Linear(20, 96), nn.ReLU(), nn.Linear(96, 19))
opt = torch.optim.SGD(net.parameters(), .3, momentum=.9)
net, opt, dl = acc.prepare(net, opt, DataLoader(TensorDataset(X, Y), 50, shuffle=True))
mx = 1.0 if args.healthy else 1e-4
s = 0
for ep in range(10):
    bar = tqdm(dl, desc=f"ep{ep}", ncols=90, mininterval=1.)
    tot = 0.
    for b, y in bar:
        with acc.accumulate(net):
            l = nn.functional.cross_entropy(net(b), y)
            acc.backward(l)
            if acc.sync_gradients:
                g = acc.clip_grad_norm_(net.parameters(), mx)
            opt.step(); opt.zero_grad(); s += 1; tot += l.item()
            if s % 20 == 0:
                bar.set_postfix(l=f"{l.item():.3f}", g=f"{float(g):.2f}")
                logged(s, l=round(l.item(), 3), g=round(float(g), 2))
    print("mean", tot / len(dl)); logged(s, mean=tot / len(dl))
