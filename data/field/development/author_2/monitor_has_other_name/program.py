"""Lightning: surface roughness from a microphone's band energies."""

import argparse
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

warnings.filterwarnings("ignore", ".*does not have many workers.*")


class RoughnessModel(L.LightningModule):
    def __init__(self, bands=16, hidden=48, lr=4e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(bands, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1)
        )

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.smooth_l1_loss(self.net(x), y)
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val/loss", nn.functional.smooth_l1_loss(self.net(x), y), prog_bar=True)

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking:
            value = round(self.trainer.callback_metrics["val/loss"].item(), 4)
            self.print(f"val/loss: {value}")
            logged(self.global_step, **{"val/loss": value})

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


class RoughnessData(L.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(2000, 16)
        y = torch.sin(x[:, :1] * 1.5) + 0.5 * x[:, 1:2] * x[:, 2:3]
        self.train, self.val = TensorDataset(x[:1600], y[:1600]), TensorDataset(x[1600:], y[1600:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=32, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=200)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    monitor = "val/loss" if args.healthy else "val_loss"
    best = ModelCheckpoint(dirpath="out", monitor=monitor, mode="min", save_top_k=1, filename="best-{epoch}")
    trainer = L.Trainer(
        max_epochs=10, accelerator="cpu", callbacks=[best], logger=False, log_every_n_steps=10, default_root_dir="out"
    )
    trainer.fit(RoughnessModel(), RoughnessData())
    print("best checkpoint:", best.best_model_path)


if __name__ == "__main__":
    main()
