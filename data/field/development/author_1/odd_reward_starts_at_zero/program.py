import argparse
import torch
from torch import nn
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--updates", type=int, default=500)
args = ap.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)

# policy gradient on a code lock: four digits out of six one after another; the lock opens (1) or not (0)
N, K = 4, 6
code = torch.randint(K, (N,))
class Policy(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.e, self.c, self.o = nn.Embedding(K + 1, d), nn.GRUCell(d, d), nn.Linear(d, K)
    def forward(self, n):
        h, prev, acts, lps, ent = torch.zeros(n, 32), torch.full((n,), K), [], [], 0.
        for _ in range(N):
            h = self.c(self.e(prev), h)
            dist = torch.distributions.Categorical(logits=self.o(h))
            prev = dist.sample()
            acts.append(prev); lps.append(dist.log_prob(prev)); ent = ent + dist.entropy().mean() / N
        return torch.stack(acts, 1), torch.stack(lps, 1).sum(1), ent

pi = Policy()
opt = torch.optim.Adam(pi.parameters(), lr=4e-3)
baseline = 0.
print("update  reward  baseline  entropy   pg_loss")
mean_r = 0.
for u in range(1, args.updates + 1):
    acts, lp, ent = pi(128)
    r = (acts == code).all(1).float()
    baseline = .95 * baseline + .05 * r.mean().item()
    loss = -((r - baseline) * lp).mean() - .01 * ent
    opt.zero_grad(); loss.backward(); opt.step()
    mean_r += r.mean().item() / 10
    if u % 10 == 0:
        print(f"{u:6d}  {mean_r:6.3f}  {baseline:8.3f}  {ent.item():7.3f}  {loss.item():8.4f}")
        logged(u, reward=round(mean_r, 3), baseline=round(baseline, 3), entropy=round(ent.item(), 3), pg_loss=round(loss.item(), 4))
        mean_r = 0.
