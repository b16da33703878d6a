"""Lightning: age of a voice (regression from 16 acoustic features) with early stopping."""
import argparse

import torch

import lightning as L
from lightning.pytorch.callbacks import EarlyStopping
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


class Age(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, index: int) -> Tensor:
        x, y = batch
        return (self.net(x)[:, 0] - y).square().mean()

    def validation_step(self, batch, index: int) -> None:
        x, y = batch
        self.log("val/mae", (self.net(x)[:, 0] - y).abs().mean(), prog_bar=True)

    def on_validation_epoch_end(self) -> None:
        mae = self.trainer.callback_metrics["val/mae"].item()
        print(f"val/mae {mae:.4f} (epoch {self.current_epoch})")
        logged(self.current_epoch, **{"val/mae": round(mae, 4)})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    x = torch.randn(640, 16)
    y = 2 * x[:, 0] - x[:, 4] + x[:, 7] * x[:, 0]
    train, val = TensorDataset(x[:512], y[:512]), TensorDataset(x[512:], y[512:])
    stop = EarlyStopping("val/mae" if args.healthy else "val_mae", patience=3)
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", callbacks=[stop], logger=False, enable_checkpointing=False, num_sanity_val_steps=0,
                        enable_progress_bar=False)
    trainer.fit(Age(), DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=64))


if __name__ == "__main__":
    main()
