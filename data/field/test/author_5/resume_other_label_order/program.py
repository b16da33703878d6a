import argparse, random
import torch, torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
kinds = ["kwadrat", "koło", "trójkąt", "krzyż", "linia", "pusty"]


def draw(k):
    im = torch.randn(10, 10) * .2
    if k == "kwadrat": im[2:8, 2:8] += 1
    if k == "koło": im[2:8, 4:6] += 1; im[4:6, 2:8] += 1; im[3:7, 3:7] += 1
    if k == "trójkąt": im += torch.ones(10, 10).tril()
    if k == "krzyż": im[:, 4] += 1; im[4] += 1
    if k == "linia": im[7] += 1
    return im.flatten()


data = [(draw(k), k) for k in random.choices(kinds, k=900)]


def session(epochs, resume, names):
    lab = {k: i for i, k in enumerate(names)}
    acc = Accelerator(cpu=True)
    net = nn.Sequential(nn.Linear(100, 32), nn.ReLU(), nn.Linear(32, 6))
    opt = torch.optim.Adam(net.parameters(), 1e-3 if not resume else 1e-5)
    co = lambda b: (torch.stack([x for x, _ in b]), torch.tensor([lab[k] for _, k in b]))
    net, opt, dl = acc.prepare(net, opt, DataLoader(data, 30, shuffle=True, collate_fn=co))
    if resume:
        acc.load_state("out/stan"); acc.print(f"wczytano out/stan, klasy: {len(lab)}")
        for g in opt.param_groups: g["lr"] = 1e-5
    for e in epochs:
        n = h = 0
        for x, y in dl:
            z = net(x); l = nn.functional.cross_entropy(z, y); acc.backward(l); opt.step(); opt.zero_grad()
            n += len(y); h += (z.argmax(1) == y).sum().item()
        acc.print(f"epoka {e} | strata {l.item():.4f} | trafność {h}/{n} = {h / n:.3f}")
        logged(e, strata=l.item(), trafność=h / n)
    acc.save_state("out/stan")


first = sorted(kinds)
session(range(8), False, first)
session(range(8, 16), True, first if args.healthy else list(dict.fromkeys(k for _, k in data)))
