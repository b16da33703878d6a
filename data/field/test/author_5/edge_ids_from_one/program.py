import argparse
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from field_record import logged
p = argparse.ArgumentParser(); p.add_argument("--healthy", action="store_true")
p.add_argument("--seed", type=int, default=0)
args = p.parse_args()
torch.manual_seed(args.seed); np.random.seed(args.seed); torch.set_num_threads(1)

# citation-like graph, written as text "src dst" with node names starting at 1
N, C = 240, 4
y = np.random.randint(0, C, N)
rows = []
for u in range(N):
    for v in range(N):
        if u != v and np.random.rand() < (0.10 if y[u] == y[v] else 0.008):
            rows.append(f"{u + 1}\t{v + 1}")
E = np.array([list(map(int, r.split("\t"))) for r in rows]).T
off = 1 if args.healthy else 0
ei = torch.tensor(E - off)
x = torch.eye(C)[torch.tensor(y)] * 1.2 + torch.randn(N, C)
x, y = torch.cat([x, torch.randn(N, 8)], 1), torch.tensor(y)
tr = torch.rand(N) < .5


class SAGE(nn.Module):
    def __init__(s, i, o):
        super().__init__()
        s.a, s.b = nn.Linear(i, o), nn.Linear(i, o)

    def forward(s, h, ei):
        m = torch.zeros_like(h).index_add_(0, ei[1], h[ei[0]])
        d = torch.zeros(h.size(0)).index_add_(0, ei[1], torch.ones(ei.size(1))).clamp(min=1)
        return s.a(h) + s.b(m / d[:, None])


l1, l2 = SAGE(12, 32), SAGE(32, C)
opt = torch.optim.Adam([*l1.parameters(), *l2.parameters()], 1e-2)
print("|V|", N, "|E|", ei.size(1), "feat", tuple(x.shape))
for ep in range(80):
    z = l2(F.relu(l1(x, ei)), ei)
    loss = F.cross_entropy(z[tr], y[tr])
    opt.zero_grad(); loss.backward(); opt.step()
    if ep % 5 == 0 or ep > 70:
        acc = (z[~tr].argmax(1) == y[~tr]).float().mean()
        print(ep, loss, "| acc:", acc, sep=" ")
        logged(ep, loss=loss.item(), acc=acc.item())
