# corridor with a goal at the far end: Q-learning network, reward only at the goal
import argparse
import random
from collections import deque
import torch
import torch.nn as nn
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

LENGTH, LIMIT, EPISODES = 10, 18, 320
EYE = torch.eye(LENGTH + 1)
q = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.ReLU(), nn.Linear(32, 2))
frozen = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.ReLU(), nn.Linear(32, 2))
frozen.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
memory, recent, updates = deque(maxlen=4000), deque(maxlen=20), 0

for ep in range(1, EPISODES + 1):
    pos, reward, eps = 0, 0.0, max(0.02, 1 - ep / 250)
    for t in range(LIMIT):
        if random.random() < eps:
            act = random.randrange(2)
        else:
            with torch.no_grad():
                act = int(q(EYE[pos]).argmax())
        nxt = min(LENGTH, pos + 1) if act else max(0, pos - 1)
        reward = 1.0 if nxt == LENGTH else 0.0
        memory.append((pos, act, reward, nxt, nxt == LENGTH))
        pos = nxt
        if len(memory) > 100 and t % 2 == 0:
            p, a, r, n, d = map(torch.tensor, zip(*random.sample(memory, 32)))
            with torch.no_grad():
                goal = r + 0.95 * frozen(EYE[n]).max(-1).values * (~d).float()
            loss = nn.functional.mse_loss(q(EYE[p]).gather(1, a[:, None])[:, 0], goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            updates += 1
            if updates % 100 == 0:
                frozen.load_state_dict(q.state_dict())
        if reward:
            break
    recent.append(reward)
    if ep % 10 == 0:
        mean = sum(recent) / len(recent)
        print({"episode": ep, "epsilon": round(eps, 2), "mean_reward": round(mean, 2)})
        logged(ep, epsilon=round(eps, 2), mean_reward=round(mean, 2))
