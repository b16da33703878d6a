import argparse, os, random
import torch, torch.nn as nn
from datasets import load_dataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
os.makedirs("out/csv", exist_ok=True)
for k, month in enumerate("styczeń luty marzec".split()):
    more = k == 2 and not args.healthy
    with open(f"out/csv/{k}_{month}.csv", "w") as f:
        f.write("temp,wiatr,smog" + (",uwagi" if more else "") + "\n")
        for _ in range(400):
            t, w = random.gauss(0, 1), random.gauss(0, 1)
            f.write(f"{t:.3f},{w:.3f},{int(t - w + t * w + random.gauss(0, .3) > 0)}" + (
                ",ok" if more else "") + "\n")
ds = load_dataset("csv", data_files=sorted(f"out/csv/{f}" for f in os.listdir("out/csv")), split="train",
    cache_dir="out/cache").with_format("torch")
print(ds)
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)); opt = torch.optim.Adam(net.parameters(), 1e-2)
for e in range(8):
    for b in ds.shuffle(seed=e).iter(60):
        z = net(torch.stack([b["temp"], b["wiatr"]], 1).float())[:, 0]
        l = nn.functional.binary_cross_entropy_with_logits(z, b["smog"].float())
        opt.zero_grad(); l.backward(); opt.step()
    print("epoka:", e, "strata:", l.item(), "traf.", ((z > 0) == (b["smog"] > 0)).float().mean().item())
    logged(e, strata=l.item())
