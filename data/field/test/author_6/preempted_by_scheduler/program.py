"""Session model: will the visitor buy?"""
import argparse
import os
import signal
import time

import torch
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def node_agent(job, act):
    if os.fork() == 0:
        beats = 0
        while os.getppid() == job:
            time.sleep(0.1)
            beats += 1
            if act and beats == 50:
                os.kill(job, signal.SIGKILL)
        os._exit(0)


class Session(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(20, 16), nn.GRU(16, 32, batch_first=True), nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0][:, -1]).squeeze(-1)


node_agent(os.getpid(), act=not args.healthy)
net = Session()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
started = time.monotonic()
step = 0
while time.monotonic() - started < 11:
    step += 1
    pages = torch.randint(20, (64, 15))
    buys = ((pages == 7).sum(1) + (pages == 3).sum(1) > 1).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(pages), buys)
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.005)
    if step % 20 == 0:
        spent = time.monotonic() - started
        print(f"[node-03:0] step={step:05d} loss={loss.item():.4f} elapsed={spent:.1f}s", flush=True)
        logged(step, loss=round(loss.item(), 4))
print("[node-03:0] budget spent, bye")
