import argparse
import torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
x = torch.rand(2000, 1) * 6 - 3; y = torch.sin(x) + .02 * torch.randn_like(x)
net = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for s in range(1200):
    b = torch.randint(0, 2000, (128,)); mu, lv = net(x[b]).split(1, 1)
    nll = nn.functional.gaussian_nll_loss(mu, y[b], lv.exp()); opt.zero_grad(); nll.backward(); opt.step()
    if s % 40 == 0:
        print(s, nll.detach().numpy(), "sigma~", lv.mul(.5).exp().mean().item()); logged(s, nll=nll.item())
