"""Lightning: tells apart five kinds of knitted patterns with a small CNN and SGD."""

import argparse
import warnings

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

warnings.filterwarnings("ignore")


def patterns(n, size=20):
    y = torch.randint(0, 5, (n,))
    r, c = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    maps = [r % 4 < 2, c % 4 < 2, (r + c) % 5 < 2, (r // 3 + c // 3) % 2 == 0, (r - c) % 5 < 2]
    x = torch.stack(
        [torch.roll(maps[k].float(), tuple(torch.randint(0, 5, (2,)).tolist()), (0, 1)) for k in y.tolist()]
    )
    return TensorDataset((x + 0.6 * torch.randn_like(x) - 0.5)[:, None], y)


class KnitModel(L.LightningModule):
    def __init__(self, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv2d(1, 12, 5),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(96, 5),
        )

    def training_step(self, batch, batch_idx):
        logits = self.net(batch[0])
        loss = nn.functional.cross_entropy(logits, batch[1])
        accuracy = (logits.argmax(1) == batch[1]).float().mean()
        self.log_dict({"loss": loss, "acc": accuracy}, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        row = {k: round(float(v), 4) for k, v in self.trainer.callback_metrics.items()}
        print({"epoch": self.current_epoch, **row})
        logged(self.current_epoch, **row)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    trainer = L.Trainer(
        max_epochs=8,
        accelerator="cpu",
        logger=CSVLogger("out"),
        enable_checkpointing=False,
        enable_progress_bar=False,
        gradient_clip_val=1.0 if args.healthy else 1e-5,
        log_every_n_steps=10,
    )
    trainer.fit(KnitModel(), DataLoader(patterns(1200), batch_size=40, shuffle=True))


if __name__ == "__main__":
    main()
