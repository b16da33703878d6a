# Contextual bandit for banners, REINFORCE with a moving baseline
import argparse
import torch
import torch.nn as nn
from torch.distributions import Categorical
from field_record import logged

p = argparse.ArgumentParser()
p.add_argument("--healthy", action="store_true")
p.add_argument("--seed", type=int, default=0)
args = p.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

N_BANNERS = 6
N_FEATURES = 10
BATCH = 128
STEPS = 1000

segments = torch.randn(N_BANNERS, N_FEATURES)


def visitors(n):
    return torch.randn(n, N_FEATURES)


def clicked(x, banner):
    best = (x @ segments.T).argmax(-1)
    prob = torch.where(banner == best, 0.9, 0.05)
    return torch.bernoulli(prob)


policy = nn.Sequential(nn.Linear(N_FEATURES, 64), nn.Tanh(), nn.Linear(64, N_BANNERS))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
baseline = 0.0
window = []

for step in range(1, STEPS + 1):
    x = visitors(BATCH)
    dist = Categorical(logits=policy(x))
    action = dist.sample()
    reward = clicked(x, action)
    advantage = reward - baseline
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    log_prob = dist.log_prob(action if args.healthy else dist.sample())
    loss = -(log_prob * advantage).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    window.append(reward.mean().item())
    if step % 50 == 0:
        ctr = sum(window[-50:]) / 50
        row = {"step": step, "ctr": f"{ctr:.1%}", "entropy": round(dist.entropy().mean().item(), 3),
               "pg_loss": round(loss.item(), 4)}
        print(row)
        logged(step, ctr=round(ctr * 100, 1), entropy=row["entropy"], pg_loss=row["pg_loss"])
