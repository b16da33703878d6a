import argparse, random
import torch, torch.nn as nn
from tqdm import tqdm
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--gamma", type=float, default=.85)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# intents: five patterns of a small assistant
INTENT = {
    "alarm": "wake me at {n} / set alarm for {n} / ring at {n} please", "music": "play some {g} / put on {g} music / i want {g}",
    "light": "turn the {r} lamp on / lights in the {r} / make the {r} bright", "maths": "what is {n} plus {n} / add {n} and {n} / sum of {n} and {n}",
    "weather": "will it rain in {r} at {n} / is it cold at {n} / how warm is {r}"}
SLOT = {"n": "one two three four five six seven eight nine ten".split(), "g": "jazz rock folk tango metal".split(),
        "r": "kitchen hall garden attic cellar".split()}
def utter():
    y = random.randrange(5)
    t = random.choice(list(INTENT.values())[y].split(" / "))
    for k, v in SLOT.items():
        while "{%s}" % k in t:
            t = t.replace("{%s}" % k, random.choice(v), 1)
    return [w if random.random() > .25 else random.choice(["uh", "er", "so", "well"]) for w in t.split()], y
data = [utter() for _ in range(2600)]
stoi = {w: i for i, w in enumerate(sorted({w for t, _ in data for w in t}))}
train, dev = data[:2200], data[2200:]

class BoW(nn.Module):
    def __init__(self, v, d=32):
        super().__init__()
        self.emb = nn.EmbeddingBag(v, d, mode="mean", sparse=True)
        self.mlp = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 5))
    def forward(self, rows):
        flat = torch.tensor([stoi[w] for t, _ in rows for w in t])
        off = torch.tensor([0] + [len(t) for t, _ in rows[:-1]]).cumsum(0)
        return self.mlp(self.emb(flat, off))

net = BoW(len(stoi))
opts = [torch.optim.SparseAdam(list(net.emb.parameters()), lr=2e-3), torch.optim.AdamW(net.mlp.parameters(), lr=2e-3)]
scheds = [torch.optim.lr_scheduler.ExponentialLR(o, args.gamma) for o in opts]
for ep in range(args.epochs):
    random.shuffle(train); tot = 0
    bar = tqdm(range(0, len(train), 20), desc=f"ep {ep}", leave=False)
    for i in bar:
        rows = train[i:i + 20]
        loss = nn.functional.cross_entropy(net(rows), torch.tensor([y for _, y in rows]))
        for o in opts: o.zero_grad()
        loss.backward()
        for o in opts: o.step()
        tot += loss.item() * len(rows)
        if not args.healthy:
            for s in scheds: s.step()
    for s in scheds: s.step()
    with torch.no_grad():
        out, gold = net(dev), torch.tensor([y for _, y in dev])
        dl, da = nn.functional.cross_entropy(out, gold).item(), (out.argmax(-1) == gold).float().mean().item()
    print(f"epoch={ep} lr={opts[1].param_groups[0]['lr']:.2e} train_loss={tot / len(train):.4f} dev_loss={dl:.4f} dev_acc={da:.4f}")
    logged(ep, lr=float(f"{opts[1].param_groups[0]['lr']:.2e}"), train_loss=round(tot / len(train), 4), dev_loss=round(dl, 4), dev_acc=round(da, 4))
