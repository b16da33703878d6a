"""Lightning: autoencoder of heart beats, the rate halved on plateaus."""
import argparse

import torch

import lightning as L
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


class Beats(L.LightningModule):
    def __init__(self, schedule: dict) -> None:
        super().__init__()
        self.schedule = schedule
        self.net = nn.Sequential(nn.Linear(40, 8), nn.Tanh(), nn.Linear(8, 40))

    def training_step(self, batch, index: int) -> Tensor:
        (x,) = batch
        loss = (self.net(x) - x).square().mean()
        self.log("recon", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self) -> None:
        recon = self.trainer.callback_metrics["recon"].item()
        rate = self.optimizers().param_groups[0]["lr"]
        print({"epoch": self.current_epoch, "recon": round(recon, 5), "lr": rate})
        logged(self.current_epoch, recon=round(recon, 5), lr=rate)

    def configure_optimizers(self) -> dict:
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return {"optimizer": optimizer,
                "lr_scheduler": {"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2), **self.schedule}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    t = torch.linspace(-1, 1, 40)
    x = torch.exp(-(t - 0.5 * torch.rand(512, 1)) ** 2 / 0.02) * (1 + 0.3 * torch.randn(512, 1))
    model = Beats({"interval": "epoch", "monitor": "recon"} if args.healthy else {"interval": "epoch"})
    trainer = L.Trainer(max_epochs=15, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(model, DataLoader(TensorDataset(x), batch_size=32, shuffle=True))


if __name__ == "__main__":
    main()
