import argparse
import torch, torch.nn as nn
from tqdm import tqdm
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=1500)
ap.add_argument("--bs", type=int, default=64)
args = ap.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

# "a+b" and "a-b" with one-digit numbers; 28 possible answers (-9 .. 18)
CH = "0123456789+-="
def batch(n):
    a, b, op = torch.randint(10, (n,)), torch.randint(10, (n,)), torch.randint(2, (n,))
    x = torch.stack([a, op + 10, b, torch.full((n,), 12)], 1)
    return x, torch.where(op == 0, a + b, a - b) + 9

class Solver(nn.Module):
    def __init__(self, d=64, k=28):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(CH), d), nn.Parameter(torch.randn(4, d) * .1)
        self.enc = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0., batch_first=True)
        self.out = nn.Linear(d, k)
        self.act = nn.Identity() if args.healthy else nn.Softmax(-1)
    def forward(self, x):
        return self.act(self.out(self.enc(self.tok(x) + self.pos)[:, -1]))

net = Solver()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
xs, ys = batch(512)
bar = tqdm(range(1, args.steps + 1), mininterval=1)
for step in bar:
    x, y = batch(args.bs)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        with torch.no_grad():
            acc = (net(xs).argmax(-1) == ys).float().mean().item()
        bar.set_postfix(loss=f"{loss.item():.3f}", acc=f"{acc:.3f}")
        logged(step, loss=round(loss.item(), 3), acc=round(acc, 3))
x, y = batch(6)
for q, g, h in zip(x.tolist(), y.tolist(), net(x).argmax(-1).tolist()):
    print("".join(CH[c] for c in q), h - 9, "(gold %d)" % (g - 9))
