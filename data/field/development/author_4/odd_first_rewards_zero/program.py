"""REINFORCE: find the restriction site GAATTC letter by letter; the reward is rare at first."""
import argparse

import torch
from torch import nn

from field_record import logged

SITE = torch.tensor(["ACGT".index(b) for b in "GAAT"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    policy = nn.Parameter(torch.zeros(4, 4))
    optimizer = torch.optim.Adam([policy], lr=0.1)
    baseline = 0.0
    for episode in range(1, 501):
        chance = torch.distributions.Categorical(logits=policy.expand(32, 4, 4))
        letters = chance.sample()
        reward = (letters == SITE).all(-1).float()
        loss = -((reward - baseline) * chance.log_prob(letters).sum(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * reward.mean().item()
        if episode % 10 == 0:
            print(f"episode {episode:>4} | reward {reward.mean().item():.3f} | policy loss {loss.item():+.4f}")
            logged(episode, reward=round(reward.mean().item(), 3), policy_loss=round(loss.item(), 4))


if __name__ == "__main__":
    main()
