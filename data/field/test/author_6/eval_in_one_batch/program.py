"""Denoising autoencoder for pictures of bar charts."""
import argparse
import logging
import resource

import torch
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname).1s %(message)s",
                    datefmt="%H:%M:%S")
torch.set_num_threads(1)
torch.manual_seed(args.seed)
CFG = dict(train=256, held_out=1200, batch=32, epochs=5, side=48)


def container(extra_mb):
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used * 1024 + extra_mb * 2**20,) * 2)


def charts(n):
    side = CFG["side"]
    heights = torch.randint(5, side, (n, 1, side // 8)).repeat_interleave(8, 2)
    return (torch.arange(side).view(1, side, 1) >= side - heights).float().unsqueeze(1)


container(300)
train, held = charts(CFG["train"]), charts(CFG["held_out"])
net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1, stride=2), nn.ReLU(),
                    nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
eval_batch = CFG["batch"] if args.healthy else len(held)
for epoch in range(CFG["epochs"]):
    for rows in torch.randperm(len(train)).split(CFG["batch"]):
        clean = train[rows]
        loss = nn.functional.mse_loss(net(clean + 0.3 * torch.randn_like(clean)), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        logging.info("train epoch=%d mse=%.5f", epoch, loss.item())
        logged(None, mse=round(loss.item(), 5))
    with torch.no_grad():
        total = sum(((net(x) - x) ** 2).mean((1, 2, 3)).sum().item() for x in held.split(eval_batch))
    logging.info("eval  epoch=%d mse=%.5f n=%d", epoch, total / len(held), len(held))
    logged(None, eval_mse=round(total / len(held), 5))
