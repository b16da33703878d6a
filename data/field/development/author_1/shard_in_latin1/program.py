import argparse, collections, pathlib, random
import torch, torch.nn as nn
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
OUT = pathlib.Path("out/corpus"); OUT.mkdir(parents=True, exist_ok=True)

# suomen sanoja: vartalo + pääte
STEMS = "kissa talo kala maa sana pöytä äiti yö tie kirja järvi metsä hylly tähti".split()
CASES = ["", "n", "ssä", "stä", "llä", "ltä", "ksi", "na", "tta", "t"]
def line():
    return " ".join(random.choice(STEMS) + random.choice(CASES) for _ in range(8))
sources = [("wiki-00", "utf-8"), ("wiki-01", "utf-8"), ("lehti-00", "utf-8" if args.healthy else "latin-1"), ("wiki-02", "utf-8")]
for name, enc in sources:
    (OUT / f"{name}.txt").write_text("\n".join(line() for _ in range(400)), encoding=enc)

CH = ["<pad>", "\n", " "] + sorted(set("".join(STEMS + CASES)))
IX = {c: i for i, c in enumerate(CH)}

class Net(nn.Module):
    def __init__(self, k=5, d=24):
        super().__init__()
        self.k, self.e = k, nn.Embedding(len(CH), d)
        self.m = nn.Sequential(nn.Linear(k * d, 96), nn.Tanh(), nn.Linear(96, len(CH)))
    def forward(self, x):
        return self.m(self.e(x).flatten(1))

net = Net(); opt = torch.optim.Adam(net.parameters(), 3e-3)
seen = collections.Counter(); step = 0
for epoch in (1, 2):
    for path in sorted(OUT.glob("*.txt"), key=lambda q: q.name[::-1]):
        text = path.read_text(encoding="utf-8")
        seen[path.stem] += len(text)
        ids = torch.tensor([IX[c] for c in text]).unfold(0, net.k + 1, 1)
        ids = ids[torch.randperm(len(ids))]
        total, nb = 0.0, 0
        for b in ids[:9600].split(64):
            loss = nn.functional.cross_entropy(net(b[:, :-1]), b[:, -1])
            opt.zero_grad(); loss.backward(); opt.step()
            total += loss.item(); nb += 1; step += 1
            if step % 50 == 0:
                print(f"[{path.stem}] step={step} nll={loss.item():.3f}")
                logged(step, nll=round(loss.item(), 3))
        print(f"epoch {epoch} shard {path.stem}: mean nll {total / nb:.3f} over {nb} batches")
        logged(step, mean_nll=round(total / nb, 3))
print("characters read:", dict(seen))
