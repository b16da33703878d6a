import argparse, logging, os, random
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--epochs", type=int, default=4)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
log = logging.getLogger("train")

GOOD, BAD = "bright warm kind fresh brave calm".split(), "dull cold rude stale weak loud".split()
FILL = "the soup book song room walk film talk game was and so very quite".split()
def review():
    y = random.randint(0, 1)
    w = random.choices(FILL, k=9) + random.choices(GOOD if y else BAD, k=2) + random.choices(BAD if y else GOOD, k=1)
    random.shuffle(w)
    return " ".join(w)[:72], y

class Collate:
    """Text to character features (identity, kind and position of each character); the same batch is not computed twice."""
    def __init__(self, keep):
        self.keep, self.memo, self.eye = keep, {}, np.eye(128, dtype=np.float32)
    def __call__(self, rows):
        key = tuple(t for t, _ in rows)
        if key not in self.memo:
            x = np.stack([np.concatenate([self.eye[list(t.ljust(72).encode())], np.linspace(-1, 1, 72, dtype=np.float32)[:, None].repeat(8, 1)], 1)
                          for t in key])
            self.memo[key] = torch.from_numpy(x)
            while len(self.memo) > self.keep:
                self.memo.pop(next(iter(self.memo)))
        return self.memo.get(key), torch.tensor([y for _, y in rows])

def rss():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20

acc = Accelerator(cpu=True, mixed_precision="bf16")
net = nn.Sequential(nn.Conv1d(136, 48, 5, 2), nn.ReLU(), nn.Conv1d(48, 48, 5, 2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(48, 2))
opt = torch.optim.AdamW(net.parameters(), 2e-3)
loader = DataLoader([review() for _ in range(3200)], 40, shuffle=True, collate_fn=Collate(4 if args.healthy else 10 ** 4))
net, opt, loader = acc.prepare(net, opt, loader)
step = 0
for epoch in range(args.epochs):
    for x, y in loader:
        with acc.autocast():
            out = net(x.transpose(1, 2))
        loss = nn.functional.cross_entropy(out.float(), y)
        acc.backward(loss); opt.step(); opt.zero_grad(); step += 1
        if step % 10 == 0:
            mb = rss()
            log.info("epoch %d step %d loss %.4f rss_mb %.0f", epoch, step, loss.item(), mb)
            logged(step, loss=round(loss.item(), 4), rss_mb=round(mb))
