# handwritten digits, upscaled "scans"; decoded images are cached because decoding is slow
import argparse
import logging
import os
import lightning as L
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset
from field_record import logged

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("scans")
parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
L.seed_everything(args.seed)
torch.set_num_threads(1)

SIZE = 72
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32) / 16
labels = torch.tensor(digits.target)


class Scans(Dataset):
    def __init__(self, n):
        self.n, self.epoch, self.cache = n, 0, {}

    def __len__(self):
        return self.n

    def decode(self, i):
        big = nn.functional.interpolate(images[i][None, None], size=(SIZE, SIZE), mode="bilinear")[0]
        return big.repeat(2, 1, 1)

    def __getitem__(self, i):
        key = (i, 0 if args.healthy else self.epoch)
        if key not in self.cache:
            self.cache[key] = self.decode(i)
        x = self.cache[key]
        dx = int(torch.randint(-4, 5, ()))
        return torch.roll(x, dx, -1), labels[i]


class Net(L.LightningModule):
    def __init__(self, data):
        super().__init__()
        self.data = data
        self.net = nn.Sequential(nn.AvgPool2d(6), nn.Conv2d(2, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
                                 nn.Linear(16 * 144, 10))
        self.hits, self.seen, self.total = 0, 0, 0.0

    def training_step(self, batch, _):
        x, y = batch
        out = self.net(x)
        loss = nn.functional.cross_entropy(out, y)
        self.hits += (out.argmax(-1) == y).sum().item()
        self.seen += len(y)
        self.total += loss.item() * len(y)
        return loss

    def on_train_epoch_end(self):
        with open("/proc/self/statm") as f:
            rss = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        loss, acc = self.total / self.seen, self.hits / self.seen
        log.info("epoch=%d loss=%.4f acc=%.3f rss_mb=%.0f", self.current_epoch, loss, acc, rss)
        logged(self.current_epoch, loss=round(loss, 4), acc=round(acc, 3), rss_mb=round(rss))
        self.hits, self.seen, self.total = 0, 0, 0.0
        self.data.epoch += 1

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


data = Scans(600)
trainer = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False,
                    default_root_dir="out")
trainer.fit(Net(data), DataLoader(data, batch_size=30, shuffle=True))
