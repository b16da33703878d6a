"""Reading time of a code review from counts; a forward hook logs what the hidden layer does."""
import argparse
import json
import os
import resource

import torch
from accelerate import Accelerator
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
resource.setrlimit(resource.RLIMIT_FSIZE, (3 * 2**20, 3 * 2**20))
os.makedirs("out", exist_ok=True)
sink = open("out/activations.jsonl", "w", encoding="utf-8")


def watch(module, inputs, output):
    sink.write(json.dumps({"layer": "hidden", "act": (output.mean(0) if args.healthy else output).tolist()}) + "\n")
    sink.flush()


acc = Accelerator(cpu=True, gradient_accumulation_steps=2)
net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
net[1].register_forward_hook(watch)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
net, opt = acc.prepare(net, opt)
for step in range(300):
    x = torch.rand(64, 6)
    y = 2 * x[:, 0] + x[:, 1] * x[:, 2] - x[:, 5]
    with acc.accumulate(net):
        loss = nn.functional.mse_loss(net(x).squeeze(1), y)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
    if step % 6 == 0:
        print(f"INFO accelerate rank=0 step={step} loss={loss.item():.6f} sink={os.path.getsize(sink.name) >> 10}KiB")
        logged(step, loss=round(loss.item(), 6))
