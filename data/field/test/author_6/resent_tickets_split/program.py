"""Ticket priority from embedded texts; customers resend a ticket until somebody answers."""
import argparse
import warnings

import torch

import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
L.seed_everything(args.seed)
TICKETS, SENT, WIDTH = 300, 5, 64

base = torch.randn(TICKETS, WIDTH)
urgent = (base @ torch.randn(WIDTH) > 0) ^ (torch.rand(TICKETS) < 0.12)
ticket = torch.arange(TICKETS).repeat_interleave(SENT)
vectors = base[ticket] + 0.1 * torch.randn(TICKETS * SENT, WIDTH)
labels = urgent[ticket].long()
held = (torch.rand(TICKETS) < 0.25)[ticket] if args.healthy else torch.rand(len(ticket)) < 0.25


class Priority(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, 2))
        self.seen = []

    def training_step(self, batch, i):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.seen.append(loss.item())
        return loss

    def validation_step(self, batch, i):
        self.log("val_acc", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

    def on_validation_epoch_end(self):
        if self.seen:
            train_loss, acc = sum(self.seen) / len(self.seen), float(self.trainer.callback_metrics["val_acc"])
            print(f"epoch={self.current_epoch:02d} train_loss={train_loss:.3f} val_acc={acc:.1%}")
            logged(self.current_epoch, train_loss=round(train_loss, 3), val_acc=round(acc, 3))
            self.seen.clear()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


train = DataLoader(TensorDataset(vectors[~held], labels[~held]), 64, shuffle=True)
valid = DataLoader(TensorDataset(vectors[held], labels[held]), 2000)
print("train rows", int((~held).sum()), "valid rows", int(held.sum()))
L.Trainer(max_epochs=16, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
          enable_model_summary=False).fit(Priority(), train, valid)
