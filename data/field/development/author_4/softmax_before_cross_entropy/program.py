"""Lightning: ten vowels and nasals from spectral envelopes."""
import argparse

import torch

import lightning as L
from lightning.pytorch.loggers import CSVLogger
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


class Envelope(L.LightningModule):
    def __init__(self, classes: int, activation: nn.Module) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, classes), activation)
        self.seen: list[float] = []

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        self.seen.append(loss.item())
        return loss

    def on_train_epoch_end(self) -> None:
        mean = sum(self.seen) / len(self.seen)
        self.seen.clear()
        print(f"Epoch {self.current_epoch}: train_loss_epoch={mean:.3f}")
        logged(self.current_epoch, train_loss_epoch=round(mean, 3))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=3e-3)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    y = torch.randint(0, 10, (1024,))
    x = torch.randn(10, 32)[y] + 0.4 * torch.randn(1024, 32)
    model = Envelope(10, nn.Identity() if args.healthy else nn.Softmax(dim=-1))
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=CSVLogger("out"), log_every_n_steps=4, enable_checkpointing=False)
    trainer.fit(model, DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True))


if __name__ == "__main__":
    main()
