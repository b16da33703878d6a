import argparse, os, random, signal, time
import torch, torch.nn as nn
from field_record import logged

def rss(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20

def container(extra_mb):
    """The container's memory limit: what is in use now and `extra_mb` more."""
    job, limit = os.getpid(), rss(os.getpid()) + extra_mb
    if os.fork() == 0:
        while os.getppid() == job:
            if rss(job) > limit:
                os.kill(job, signal.SIGKILL)
            time.sleep(.02)
        os._exit(0)

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=400)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# NER-like tagging on made-up text: names follow titles, places follow prepositions
N, L = "Mara Tolvo Irek Sunna Bel Dario Pello Quint".split(), "Rovak Ostan Lumi Ferra Zedd Kalo".split()
def sent():
    w, t = [], []
    for _ in range(6):
        kind = random.choice("NLO")
        w += {"N": ["Dr", random.choice(N + L)], "L": ["in", random.choice(L + N)], "O": ["saw", "it"]}[kind]
        t += {"N": [0, 1], "L": [0, 2], "O": [0, 0]}[kind]
    return w, t
vocab = {w: i for i, w in enumerate(["Dr", "in", "saw", "it"] + N + L)}

def batch():
    rows = [sent() for _ in range(48)]
    return torch.tensor([[vocab[w] for w in r[0]] for r in rows]), torch.tensor([r[1] for r in rows])

class Tagger(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.e = nn.Embedding(len(vocab), d)
        self.r = nn.LSTM(d, d, 2, batch_first=True, bidirectional=True, dropout=.1)
        self.o = nn.Linear(2 * d, 3)
    def forward(self, x):
        return self.o(self.r(self.e(x))[0])

net = Tagger(); opt = torch.optim.Adam(net.parameters(), 1e-3)
container(500)
history = []
for step in range(1, args.steps + 1):
    x, y = batch()
    loss = nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    x, y = batch()
    dev = nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())
    history.append(dev.item() if args.healthy else dev)
    if step % 10 == 0:
        avg = float(sum(history[-10:]) / 10)
        print(f"{time.strftime('%H:%M:%S')} {step}/{args.steps} avg_dev_loss={avg:.5f}", flush=True)
        logged(step, avg_dev_loss=round(avg, 5))
print("best", float(min(history)))
