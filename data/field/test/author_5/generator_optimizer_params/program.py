import argparse
import torch, torch.nn as nn
import torch.nn.functional as F
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)


def mlp(*s):
    L = []
    for i, o in zip(s, s[1:]):
        L += [nn.Linear(i, o), nn.LeakyReLU(.2)]
    return nn.Sequential(*L[:-1])


def real(n):
    return torch.randn(n, 2) * torch.tensor([.5, .3]) + torch.tensor([2., -1.5])


G, D = mlp(8, 48, 48, 2), mlp(2, 48, 48, 1)
og = torch.optim.Adam((G if args.healthy else D).parameters(), 1e-3, betas=(.5, .9))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(.5, .9))
for s in range(1, 1501):
    x, f = real(128), G(torch.randn(128, 8))
    ld = F.softplus(-D(x)).mean() + F.softplus(D(f.detach())).mean()
    od.zero_grad(); ld.backward(); od.step()
    lg = F.softplus(-D(G(torch.randn(128, 8)))).mean()
    og.zero_grad(); lg.backward(); og.step()
    if s % 50 == 0:
        with torch.no_grad():
            smp = G(torch.randn(512, 8)); gap = (smp.mean(0) - real(512).mean(0)).norm()
        print(f"it {s}: D {ld:.3f} G {lg:.3f} |mu-mu'| {gap:.3f} sd", smp.std(0).numpy())
        logged(s, D=round(ld.item(), 3), G=round(lg.item(), 3), gap=round(gap.item(), 3))
