import argparse, os, random, signal, time, warnings
import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset
from field_record import logged

def rss(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20

def container(extra_mb):
    """What the kernel does in a container: where a process of the job outgrows the limit, it gets SIGKILL."""
    job, me, limit = os.getpid(), 0, rss(os.getpid()) + extra_mb
    if os.fork() == 0:
        while os.getppid() == job:
            for pid in open(f"/proc/{job}/task/{job}/children").read().split() + [str(job)]:
                try:
                    if int(pid) != os.getpid() and rss(pid) > limit:
                        os.kill(int(pid), signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(.02)
        os._exit(0)

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
warnings.filterwarnings("ignore"); torch.set_num_threads(1); L.seed_everything(args.seed, verbose=False)

ES, FI = "que con para una los por más pero como esta sobre también".split(), "että kun mutta ovat tämä niin myös ollut siitä jos hyvin".split()
class Sentences(IterableDataset):
    """Byte one-hots of made-up Spanish and Finnish sentences, 96 bytes each."""
    def __init__(self, n, stream, eye=np.eye(256, dtype=np.float32)):
        self.n, self.stream, self.eye = n, stream, eye
    def rows(self):
        for _ in range(self.n):
            y = random.randint(0, 1)
            b = " ".join(random.choices(FI if y else ES, k=20)).encode()[:96].ljust(96)
            b = bytes(c if random.random() > .5 else random.randrange(97, 123) for c in b)
            yield self.eye[list(b)], y
    def __iter__(self):
        return self.rows() if self.stream else iter(list(self.rows()))

class Conv(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(256, 24, 5, 2), nn.ReLU(), nn.Conv1d(24, 24, 5, 2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(24, 2))
        self.seen = []
    def training_step(self, batch, i):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x.transpose(1, 2)), y)
        self.seen.append(loss.item())
        if i % 25 == 24:
            avg = round(sum(self.seen[-25:]) / 25, 4)
            print(f"[batch {i + 1:4d}] running loss {avg}", flush=True)
            logged(i + 1, running_loss=avg)
        return loss
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 3e-3)

container(500)
loader = DataLoader(Sentences(9000, stream=args.healthy), batch_size=30, num_workers=1)
L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, default_root_dir="out").fit(Conv(), loader)
print("epoch finished")
