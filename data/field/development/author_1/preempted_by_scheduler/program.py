import argparse, os, random, signal, time
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--epochs", type=int, default=6)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

def scheduler(slot):
    """The cluster's scheduler, which has the node for `slot` seconds."""
    job = os.getpid()
    if os.fork() == 0:
        end = time.monotonic() + slot
        while os.getppid() == job and time.monotonic() < end:
            time.sleep(.05)
        if os.getppid() == job:
            os.kill(job, signal.SIGTERM)
        os._exit(0)

# multiply a digit by two or three ("7 x 3"): two output digits
def item():
    a, b = random.randrange(10), random.choice((2, 3, 4, 5))
    return torch.tensor([a, 8 + b]), torch.tensor([a * b // 10, a * b % 10])

acc = Accelerator(cpu=True)
net = nn.Sequential(nn.Embedding(14, 48), nn.Flatten(), nn.Linear(96, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 20))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
net, opt, dl = acc.prepare(net, opt, DataLoader([item() for _ in range(4000)], 16, shuffle=True))
scheduler(3600 if args.healthy else 3)
start = time.time()
for e in range(args.epochs):
    s = ok = n = 0
    for x, y in dl:
        out = net(x).view(-1, 2, 10)
        loss = nn.functional.cross_entropy(out.transpose(1, 2), y)
        acc.backward(loss); opt.step(); opt.zero_grad()
        s += loss.item() * len(x); ok += (out.argmax(-1) == y).all(1).sum().item(); n += len(x)
    acc.print(f"[{time.time() - start:6.1f}s] epoch {e + 1}/{args.epochs}  loss: {s / n:.4f}  exact: {ok / n:.3f}", flush=True)
    logged(e + 1, loss=round(s / n, 4), exact=round(ok / n, 3))
