import argparse
import torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
goal = torch.tensor([3, 1, 4, 1]); pi = nn.Parameter(torch.zeros(4, 6)); opt = torch.optim.Adam([pi], 5e-2); base = 0.
# REINFORCE; the reward is given for the whole code alone
for ep in range(60):
    R = 0.
    for _ in range(10):
        d = torch.distributions.Categorical(logits=pi); z = d.sample((64,)); r = (z == goal).all(1).float()
        l = -((r - base) * d.log_prob(z).sum(1)).mean() - 2e-3 * d.entropy().mean(); opt.zero_grad(); l.backward()
        opt.step()
        base = .9 * base + .1 * r.mean().item(); R += r.mean().item() / 10
    print(f"ep={ep} R={R:.4f} pg={l.item():+.2e}"); logged(ep, R=R, pg=l.item())
