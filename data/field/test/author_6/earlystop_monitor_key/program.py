"""Wine cultivars, with early stopping as the platform's template has it."""
import argparse

import torch

import lightning as L
from lightning.pytorch.callbacks import EarlyStopping
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
L.seed_everything(args.seed)
PLATFORM = {"max_epochs": 25, "patience": 20, "monitor": "valid/loss" if args.healthy else "val_loss", "lr": 5e-3}


class Wine(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, i):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, i):
        out = self.net(batch[0])
        self.log("valid/loss", nn.functional.cross_entropy(out, batch[1]))
        self.log("valid/acc", (out.argmax(1) == batch[1]).float().mean())

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            row = {k: round(float(v), 4) for k, v in self.trainer.callback_metrics.items() if k.startswith("valid")}
            print(f"\n[epoch {self.current_epoch}]", row)
            logged(self.global_step, **row)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=PLATFORM["lr"])


x, y = load_wine(return_X_y=True)
x = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)
order = torch.randperm(len(x))
data = TensorDataset(x[order], torch.tensor(y)[order])
train, valid = torch.utils.data.random_split(data, [130, len(data) - 130])
trainer = L.Trainer(max_epochs=PLATFORM["max_epochs"], accelerator="cpu", logger=False, enable_checkpointing=False,
                    log_every_n_steps=5, enable_model_summary=False,
                    callbacks=[EarlyStopping(monitor=PLATFORM["monitor"], patience=PLATFORM["patience"])])
trainer.fit(Wine(), DataLoader(train, 16, shuffle=True), DataLoader(valid, 48))
