"""SGDR: косинус с перезапусками"""
import argparse
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
сеть = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(сеть.parameters(), lr=0.4, momentum=0.8)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=200, eta_min=1e-3)
накоплено = []
for step in range(800):
    idx = torch.randint(0, 1500, (64,))
    loss = nn.functional.cross_entropy(сеть(x[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(сеть.parameters(), 2.0)
    opt.step()
    sched.step()
    накоплено.append(loss.item())
    if (step + 1) % 10 == 0:
        lr, mean = sched.get_last_lr()[0], sum(накоплено) / len(накоплено)
        print(f"шаг {step + 1} lr={lr:.4f} норма={norm:.3f} потери={mean:.4f}")
        logged(step + 1, lr=round(lr, 4), норма=round(float(norm), 3), потери=round(mean, 4))
        накоплено = []
    if (step + 1) % 100 == 0:
        with torch.no_grad():
            acc = (сеть(x[1500:]).argmax(-1) == y[1500:]).float().mean().item()
        print(f"  точность на проверке: {acc:.1%}")
        logged(step + 1, точность=round(100 * acc, 1))
