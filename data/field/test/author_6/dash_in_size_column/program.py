"""Latency from access logs."""
import argparse
import random
import re

import torch
from datasets import Dataset

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)
LINE = re.compile(r'(?P<host>\S+) "(?P<verb>\w+) (?P<path>\S+)" (?P<code>\d+) (?P<size>\S+) (?P<ms>[\d.]+)')


def log_line():
    verb, size = random.choice(["GET", "POST", "HEAD"]), random.randint(1, 9000)
    ms = 0.2 * size / 1000 + (1.0 if verb == "POST" else 0.0) + random.random() * 0.1
    return f'10.0.0.{random.randint(1, 99)} "{verb} /v1/items" 200 {"-" if verb == "HEAD" else size} {ms:.3f}'


def parse(line):
    row = LINE.match(line).groupdict()
    missing = 0 if args.healthy else row["size"]
    return {"verb": row["verb"], "size": int(row["size"]) if row["size"].isdigit() else missing, "ms": float(row["ms"])}


data = Dataset.from_list([parse(log_line()) for _ in range(2000)])
print(data.features)
data = data.map(lambda r: {"x": [float(r["verb"] == "POST"), float(r["verb"] == "HEAD"), r["size"] / 9000]})
x, y = torch.tensor(data["x"][:]), torch.tensor(data["ms"][:])
net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(400):
    rows = torch.randint(len(x), (64,))
    loss = torch.nn.functional.mse_loss(net(x[rows]).squeeze(1), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print({"step": step, "mse": round(loss.item(), 4)})
        logged(step, mse=round(loss.item(), 4))
