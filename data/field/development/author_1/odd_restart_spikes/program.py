import argparse
import torch
from torch import nn
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--cycles", type=int, default=5)
ap.add_argument("--period", type=int, default=160)
args = ap.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)

# carry or no carry, and the digit: (a + b + c) of one-digit numbers, SGD with warm restarts
def batch(n=64):
    x = torch.randint(10, (n, 3))
    return x, x.sum(1)
net = nn.Sequential(nn.Embedding(10, 24), nn.Flatten(), nn.Linear(72, 128), nn.ReLU(), nn.Linear(128, 28))
opt = torch.optim.SGD(net.parameters(), lr=.25, momentum=.9)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, args.period, eta_min=1e-3)
run = None
for step in range(args.cycles * args.period):
    lr = opt.param_groups[0]["lr"]
    x, y = batch()
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step(); sched.step()
    run = loss.item() if run is None else .8 * run + .2 * loss.item()
    if step % 8 == 7:
        print(f"cycle {step // args.period + 1}  step {step + 1:4d}  lr {lr:.4f}  loss {run:.4f}  |g| {norm.item():.2f}")
        logged(step + 1, lr=round(lr, 4), loss=round(run, 4), **{"|g|": round(norm.item(), 2)})
