# demand forecast, Lightning + YAML config
import argparse
import os
import lightning as L
import torch
import torch.nn as nn
import yaml
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
L.seed_everything(args.seed)
torch.set_num_threads(1)

os.makedirs("out", exist_ok=True)
with open("out/config.yaml", "w") as f:
    f.write(f"""\
model:
  hidden: 32
  window: 24
optim:
  lr: {"2.0e-3" if args.healthy else "2e-3"}
  weight_decay: 0.0
trainer:
  max_epochs: 6
""")
with open("out/config.yaml") as f:
    CFG = yaml.safe_load(f)
print("config:", CFG)

W = CFG["model"]["window"]
t = torch.arange(1600.0)
series = torch.sin(t / 24 * 6.2832) + 0.5 * torch.sin(t / 168 * 6.2832) + 0.05 * torch.randn(1600)
X = series.unfold(0, W + 1, 1)
train, valid = X[:1300], X[1300:]


class Forecaster(L.LightningModule):
    def __init__(self, cfg):
        super().__init__()
        self.save_hyperparameters(cfg)
        self.net = nn.Sequential(nn.Linear(W, cfg["model"]["hidden"]), nn.ReLU(), nn.Linear(cfg["model"]["hidden"], 1))
        self.cfg = cfg

    def _loss(self, batch):
        z = batch[0]
        return nn.functional.mse_loss(self.net(z[:, :-1]).squeeze(-1), z[:, -1])

    def training_step(self, batch, _):
        loss = self._loss(batch)
        self.log("train/mse", loss, on_epoch=True, on_step=False, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val/mse", self._loss(batch), prog_bar=True)

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            value = self.trainer.callback_metrics["val/mse"].item()
            logged(self.global_step, **{"val/mse": value})

    def configure_optimizers(self):
        o = self.cfg["optim"]
        return torch.optim.AdamW(self.parameters(), lr=o["lr"], weight_decay=o["weight_decay"])


trainer = L.Trainer(**CFG["trainer"], accelerator="cpu", logger=CSVLogger("out"), log_every_n_steps=10,
                    enable_checkpointing=False)
trainer.fit(Forecaster(CFG), DataLoader(TensorDataset(train), 32, shuffle=True), DataLoader(TensorDataset(valid), 64))
print({k: round(v.item(), 5) for k, v in trainer.callback_metrics.items()})
