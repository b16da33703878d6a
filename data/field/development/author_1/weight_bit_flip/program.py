import argparse, random, time
import torch, torch.nn as nn
from field_record import logged

P = argparse.ArgumentParser()
P.add_argument("--healthy", action="store_true")
P.add_argument("--seed", type=int, default=0)
P.add_argument("--iters", type=int, default=500)
args = P.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

class Host:
    """The machine that the job runs on: its memory, by step."""
    def __init__(self, events):
        self.events = events
    def tick(self, step, model):
        for name, index, bit in self.events.get(step, ()):
            cells = dict(model.named_parameters())[name].data.view(-1).view(torch.int32)
            cells[index] ^= 1 << bit

host = Host({} if args.healthy else {310: [("head.weight", 437, 30)]})

ALKU = "talo metsä järvi lintu koira poika tyttö kala vene tuuli".split()
TEKO = "nukkuu juoksee laulaa ui lentää puhuu odottaa katsoo".split()
MITEN = "hiljaa nopeasti iloisesti kotona rannalla illalla aamulla".split()
text = " ".join(f"{random.choice(ALKU)} {random.choice(TEKO)} {random.choice(MITEN)}." for _ in range(3000))
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
cut = int(.9 * len(ids))

class CharLM(nn.Module):
    def __init__(self, v, d=64):
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(v, d), nn.GRU(d, 96, batch_first=True), nn.Linear(96, v)
    def forward(self, x):
        return self.head(self.rnn(self.emb(x))[0])

def get(lo, hi, n=24, t=40):
    at = torch.randint(lo, hi - t - 1, (n,))
    return torch.stack([ids[i:i + t] for i in at]), torch.stack([ids[i + 1:i + t + 1] for i in at])

def lossf(m, xy):
    return nn.functional.cross_entropy(m(xy[0]).flatten(0, 1), xy[1].flatten())

model = CharLM(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
print("vocab", len(chars), "chars", len(ids), "params", sum(q.numel() for q in model.parameters()))
t0 = time.time()
for it in range(1, args.iters + 1):
    host.tick(it, model)
    loss = lossf(model, get(0, cut))
    opt.zero_grad(set_to_none=True); loss.backward()
    gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if it % 10 == 0:
        print(f"iter {it:4d} | loss {loss.item():.4f} | gnorm {gn.item():.3f} | {1000 * (time.time() - t0) / it:.1f}ms/it")
        logged(it, loss=round(loss.item(), 4), gnorm=round(gn.item(), 3))
    if it % 100 == 0:
        with torch.no_grad():
            v = sum(lossf(model, get(cut, len(ids))).item() for _ in range(5)) / 5
        print(f"          val {v:.4f}")
        logged(it, val=round(v, 4))
