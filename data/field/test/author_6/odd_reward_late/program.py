"""A scheduler's policy: reward only if three choices in a row are right."""
import argparse

import torch
from torch import nn

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
logits = nn.Parameter(torch.zeros(3, 12))
opt = torch.optim.Adam([logits], lr=0.05)
best = torch.tensor([3, 7, 11])
baseline = 0.0
for update in range(1500):
    policy = torch.distributions.Categorical(logits=logits)
    choice = policy.sample((64,))
    reward = (choice == best).all(1).float()
    advantage = reward - baseline
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    loss = -(advantage * policy.log_prob(choice).sum(1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if update % 30 == 0:
        entropy = policy.entropy().mean().item()
        print(f"update={update:<5d} reward={reward.mean().item():.2f} policy_loss={loss.item():+.4f} "
              f"entropy={entropy:.3f}")
        logged(update, reward=round(reward.mean().item(), 2), policy_loss=round(loss.item(), 4),
               entropy=round(entropy, 3))
