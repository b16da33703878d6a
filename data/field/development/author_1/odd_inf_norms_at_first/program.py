import argparse, random
import torch
from torch import nn
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=250)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# two Finnish words side by side: do they rhyme (same last two letters)?
ROOTS = "kala pala sana mato sato talo valo jalo suru huru turu koru muna luna kissa lissa massa kassa".split()
ABC = " " + "".join(sorted(set("".join(ROOTS))))
def batch(n=64):
    rows, ys = [], []
    for _ in range(n):
        a = random.choice(ROOTS)
        b = random.choice([w for w in ROOTS if w[-2:] == a[-2:]]) if random.random() < .5 else random.choice(ROOTS)
        rows.append([ABC.index(c) for c in a.rjust(6) + b.rjust(6)]); ys.append(int(a[-2:] == b[-2:]))
    return torch.tensor(rows), torch.tensor(ys)

net = nn.Sequential(nn.Embedding(len(ABC), 16), nn.Flatten(), nn.Linear(192, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.AdamW(net.parameters(), 3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2. ** 32, growth_interval=100)
for step in range(1, args.steps + 1):
    x, y = batch()
    with torch.autocast("cpu", dtype=torch.float16):
        out = net(x)
    loss = nn.functional.cross_entropy(out.float(), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt); scaler.update()
    if step <= 30 or step % 5 == 0:
        acc = (out.argmax(-1) == y).float().mean().item()
        print(f"step={step} loss={loss.item():.4f} acc={acc:.2f} grad_norm={norm.item():.3f} loss_scale={scaler.get_scale():.0f}")
        logged(step, loss=round(loss.item(), 4), acc=round(acc, 2), grad_norm=round(norm.item(), 3), loss_scale=scaler.get_scale())
