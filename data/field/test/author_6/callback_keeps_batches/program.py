"""Stripes: across or along? A callback collects examples for the report page."""
import argparse
from collections import deque

import torch

import lightning as L
import psutil
from torch import nn
from torch.utils.data import DataLoader, Dataset

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
L.seed_everything(args.seed)


class Stripes(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, i):
        line = (torch.arange(48) // 4 % 2).float().expand(48, 48)
        return 0.5 * torch.rand(1, 48, 48) + (line if i % 2 else line.T), i % 2


class Gallery(L.Callback):
    def __init__(self, keep):
        self.pictures = deque(maxlen=keep)

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.pictures.append((batch[0], outputs["loss"].detach()))
        if trainer.global_step % 10 == 0:
            rss = psutil.Process().memory_info().rss / 2**20
            print(f"step {trainer.global_step:>4} | loss {outputs['loss']:.4f} | rss {rss:,.0f} MB")
            logged(trainer.global_step, loss=round(outputs["loss"].item(), 4), rss_mb=round(rss))

    def on_train_end(self, trainer, module):
        print("gallery:", len(self.pictures), "batches, mean", f"{self.pictures[-1][0].mean():.3f}")


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 6, 5, stride=4), nn.ReLU(), nn.Conv2d(6, 12, 3), nn.ReLU(),
                                 nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(12, 2))

    def training_step(self, batch, i):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
          callbacks=[Gallery(keep=8 if args.healthy else None)]).fit(Net(), DataLoader(Stripes(), 32, shuffle=True))
