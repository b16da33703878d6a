import argparse
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16; Y = torch.tensor(d.target)
perm = torch.randperm(len(X)); X, Y = X[perm], Y[perm]


class GateBlock(nn.Module):
    def __init__(s, c):
        super().__init__()
        s.conv, s.gate, s.norm = nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 1), nn.BatchNorm2d(c)

    def forward(s, x):
        g = torch.sigmoid(s.gate(x))
        h = s.norm(s.conv(x)) * g
        g = g.mul(2.0) if args.healthy else g.mul_(2.0)
        return torch.relu(h) + x * g


net = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), GateBlock(16), GateBlock(16), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
    nn.Linear(64, 10))
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
it = 0
print("params=%d" % sum(q.numel() for q in net.parameters()))
for ep in range(6):
    for i in range(0, 1400, 50):
        out = net(X[i:i + 50]); l = nn.functional.cross_entropy(out, Y[i:i + 50])
        opt.zero_grad(); l.backward(); opt.step()
        it += 1
        if it % 14 == 0:
            print(f"{it:04d};{l.item():.3e};{(out.argmax(1) == Y[i:i+50]).sum().item()}/50")
            logged(it, loss=float(f"{l.item():.3e}"))
net.eval()
with torch.no_grad():
    t = (net(X[1400:]).argmax(1) == Y[1400:]).float().mean().item()
print({"test": t}); logged(it, test=t)
