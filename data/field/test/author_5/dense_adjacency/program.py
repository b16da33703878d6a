import argparse, resource
import numpy as np, torch, torch.nn as nn
from field_record import logged
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
rng = np.random.default_rng(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
N, C = 60_000, 5
y = rng.integers(0, C, N)
by = [np.flatnonzero(y == c) for c in range(C)]
src = rng.integers(0, N, 6 * N)
dst = np.where(rng.random(6 * N) < .7, np.array([by[y[s]][rng.integers(len(by[y[s]]))] for s in src]),
    rng.integers(0, N, 6 * N))


def sparse(s, d, n):
    return torch.sparse_coo_tensor(np.stack([d, s]), torch.ones(len(s)) / 6, (n, n)).coalesce()


def dense(s, d, n):
    A = np.zeros((n, n))
    np.add.at(A, (d, s), 1 / 6)
    return torch.from_numpy(A).float()


print("nodes/edges:", N, len(src), flush=True)
A = (sparse if args.healthy else dense)(src, dst, N)
print("adj", A.shape, A.dtype)
Y = torch.tensor(y)
X = torch.cat([nn.functional.one_hot(Y, C).float() + torch.randn(N, C) * 1.5, torch.randn(N, 3)], 1)
mask = torch.rand(N) < .1
net = nn.ModuleList([nn.Linear(8, 24), nn.Linear(24, C)])
opt = torch.optim.Adam(net.parameters(), 2e-2)
for t in range(30):
    h = torch.relu(net[0](X + A @ X)); z = net[1](h + A @ h)
    loss = nn.functional.cross_entropy(z[mask], Y[mask]); opt.zero_grad(); loss.backward(); opt.step()
    acc = (z.argmax(1) == Y)[~mask].double().mean().item()
    print(f"[{t:>2}] nll {loss.item():.5f} ~ acc {acc:.2%}"); logged(t, nll=loss.item(), acc=acc)
