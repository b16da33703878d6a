"""Digits: frozen random features, a fresh head swapped in by a callback of the fine-tuning template."""
import argparse
import json
import time

import torch

import lightning as L
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
L.seed_everything(args.seed)
TEMPLATE = {
    "head": {"classes": 10, "swap_at": "setup" if args.healthy else "train_start"},
    "optimizer": {"name": "sgd", "lr": 0.2},
    "epochs": 6,
}


class FreshHead(L.Callback):
    def swap(self, module, when):
        if TEMPLATE["head"]["swap_at"] == when:
            module.head = nn.Linear(256, TEMPLATE["head"]["classes"])

    def setup(self, trainer, pl_module, stage):
        self.swap(pl_module, "setup")

    def on_train_start(self, trainer, pl_module):
        self.swap(pl_module, "train_start")


class JsonLog(L.Callback):
    start = time.time()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % 10 == 0:
            row = {"t": round(time.time() - self.start, 2), "step": trainer.global_step,
                   "loss": round(outputs["loss"].item(), 4)}
            print(json.dumps(row))
            logged(row["step"], loss=row["loss"])


class Tuned(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 256), nn.ReLU()).requires_grad_(False)
        self.head = nn.Linear(256, 1000)

    def training_step(self, batch, i):
        return nn.functional.cross_entropy(self.head(self.backbone(batch[0])), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD([p for p in self.parameters() if p.requires_grad], lr=TEMPLATE["optimizer"]["lr"])


x, y = load_digits(return_X_y=True)
loader = DataLoader(TensorDataset(torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)), 64, shuffle=True)
L.Trainer(max_epochs=TEMPLATE["epochs"], accelerator="cpu", logger=False, enable_checkpointing=False,
          enable_progress_bar=False, callbacks=[FreshHead(), JsonLog()]).fit(Tuned(), loader)
