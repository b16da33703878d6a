import argparse

import torch
import torch.nn.functional as F
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--experts", type=int, default=16)
parser.add_argument("--steps", type=int, default=240)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

REGIMES, DIM = 6, 8
centres = 2.0 * torch.randn(REGIMES, DIM)
slopes = torch.randn(REGIMES, DIM) / DIM ** 0.5


def batch(n=24):
    regime = torch.randint(0, REGIMES, (n,))
    x = centres[regime] + 0.7 * torch.randn(n, DIM)
    y = ((x - centres[regime]) * slopes[regime]).sum(1) * 1.4 + torch.sin(regime.float() * 2)
    return x, y + 0.05 * torch.randn(n)


class Expert(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class SparseMoE(nn.Module):
    def __init__(self, dim, experts, hidden=32, top=1):
        super().__init__()
        self.router = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(experts))
        self.top = top

    def forward(self, x):
        probs = self.router(x).softmax(-1)
        weight, chosen = probs.topk(self.top, -1)
        out = torch.zeros_like(x)
        load = torch.zeros(len(self.experts))
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == e)
            load[e] = len(rows)
            if len(rows) == 0:
                continue
            out = out.index_add(0, rows, expert(x[rows]) * weight[rows, slot].unsqueeze(1))
        share = load / load.sum()
        balance = len(self.experts) * (share * probs.mean(0)).sum()
        return x + out, balance, load


class Net(nn.Module):
    def __init__(self, experts, width=32):
        super().__init__()
        self.stem = nn.Linear(DIM, width)
        self.moe = SparseMoE(width, experts)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h, balance, load = self.moe(self.stem(x))
        return self.out(self.norm(h)).squeeze(1), balance, load


net = Net(args.experts)
opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=1e-3)
x_val, y_val = batch(1000)
print(f"var(y)={y_val.var().item():.3f}  experts={args.experts}  params={sum(p.numel() for p in net.parameters())}")

for step in range(1, args.steps + 1):
    x, y = batch()
    pred, aux, load = net(x)
    task = F.mse_loss(pred, y)
    opt.zero_grad(set_to_none=True)
    (task + 0.01 * aux).backward()
    nograd = sum(all(p.grad is None for p in e.parameters()) for e in net.moe.experts)
    opt.step()
    if step % 10 == 0:
        net.eval()
        with torch.no_grad():
            mse = F.mse_loss(net(x_val)[0], y_val).item()
        net.train()
        tokens = " ".join(f"{int(n)}" for n in load)
        print(f"step={step} train_mse={task.item():.4f} mse={mse:.4f} aux={aux.item():.3f} idle={nograd} load=[{tokens}]")
        logged(step, train_mse=task.item(), mse=mse, aux=aux.item(), idle=nograd)
