# DQN on a pixel "catch" game
import argparse
import multiprocessing as mp
import os
import random
import signal
import time
from collections import deque

import numpy as np
import torch
import torch.nn as nn
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

GRID, SCALE = 7, 12
CAPACITY = 1_500 if args.healthy else 150_000
STEPS = 7000


def rss(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cgroup(pid, limit):
    """the container's memory limit"""
    while True:
        try:
            if rss(pid) > limit:
                os.kill(pid, signal.SIGKILL)
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.05)


class Catch:
    def reset(self):
        self.row, self.col, self.paddle = 0, random.randrange(GRID), GRID // 2
        return self.frame()

    def frame(self):
        small = np.zeros((GRID, GRID), np.float32)
        small[self.row, self.col] = 1.0
        small[GRID - 1, self.paddle] = 0.5
        return np.kron(small, np.ones((SCALE, SCALE), np.float32))

    def step(self, action):
        self.paddle = min(GRID - 1, max(0, self.paddle + action - 1))
        self.row += 1
        done = self.row == GRID - 1
        reward = (1.0 if self.paddle == self.col else -1.0) if done else 0.0
        return self.frame(), reward, done


def make_net():
    return nn.Sequential(nn.AvgPool2d(SCALE), nn.Flatten(), nn.Linear(GRID * GRID, 64), nn.ReLU(), nn.Linear(64, 3))


if __name__ == "__main__":
    mp.get_context("fork").Process(target=cgroup, args=(os.getpid(), rss(os.getpid()) + 220 * 2**20),
                                   daemon=True).start()
    env, memory = Catch(), deque(maxlen=CAPACITY)
    q, target = make_net(), make_net()
    target.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    returns = deque(maxlen=100)
    obs, losses = env.reset(), deque(maxlen=200)
    for t in range(1, STEPS + 1):
        eps = max(0.05, 1 - t / 2500)
        if random.random() < eps:
            act = random.randrange(3)
        else:
            with torch.no_grad():
                act = q(torch.from_numpy(obs)[None, None]).argmax().item()
        nxt, rew, done = env.step(act)
        memory.append((obs, act, rew, nxt, done))
        obs = nxt
        if done:
            returns.append(rew)
            obs = env.reset()
        if len(memory) >= 200 and t % 2 == 0:
            o, a, r, n, d = zip(*random.sample(memory, 32))
            o, n = torch.from_numpy(np.stack(o))[:, None], torch.from_numpy(np.stack(n))[:, None]
            with torch.no_grad():
                goal = torch.tensor(r) + 0.95 * target(n).max(1).values * (1 - torch.tensor(d).float())
            loss = nn.functional.smooth_l1_loss(q(o).gather(1, torch.tensor(a)[:, None]).squeeze(1), goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if t % 200 == 0:
            target.load_state_dict(q.state_dict())
        if t % 500 == 0:
            ret, td = sum(returns) / len(returns), float(np.mean(losses))
            print(f"[{t:>5}/{STEPS}] eps {eps:.2f}  buffer {len(memory)}  avg_return {ret:+.2f}  td_loss {td:.5f}")
            logged(t, eps=round(eps, 2), buffer=len(memory), avg_return=round(ret, 2), td_loss=round(td, 5))
