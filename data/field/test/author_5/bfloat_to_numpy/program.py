import argparse
import torch, torch.nn as nn
from accelerate import Accelerator
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
acc = Accelerator(mixed_precision="bf16", cpu=True)
d = load_digits(); X = torch.tensor(d.data).float() / 16; Y = torch.tensor(d.target)


class Enc(nn.Module):
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 24)); s.c = nn.Linear(24, 10)

    def forward(s, x):
        return s.c(s.f(x))


m = Enc(); opt = torch.optim.AdamW(m.parameters(), 3e-3)
m, opt, dl = acc.prepare(m, opt, DataLoader(TensorDataset(X[:1400], Y[:1400]), 64, shuffle=True))
for ep in range(5):
    for x, y in dl:
        l = nn.functional.cross_entropy(m(x), y); acc.backward(l); opt.step(); opt.zero_grad()
    acc.print(f"[{ep}] xent={l.item():.3f}"); logged(ep, xent=l.item())
with torch.no_grad(), acc.autocast():
    z = acc.unwrap_model(m).f(X)
z = (z.float() if args.healthy else z).cpu().numpy()
k = KNeighborsClassifier(5).fit(z[:1400], d.target[:1400]).score(z[1400:], d.target[1400:])
acc.print("knn", k); logged(5, knn=k)
