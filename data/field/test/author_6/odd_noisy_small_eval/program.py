"""A student learns from labels and from an int8 teacher; the smoke evaluation has twelve rows."""
import argparse
import warnings

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
warnings.filterwarnings("ignore", category=DeprecationWarning)
torch.set_num_threads(1)
L.seed_everything(args.seed)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
teacher = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(150):
    rows = torch.randint(1400, (128,))
    opt.zero_grad()
    nn.functional.cross_entropy(teacher(x[rows]), y[rows]).backward()
    opt.step()
teacher = torch.ao.quantization.quantize_dynamic(teacher.eval(), {nn.Linear}, dtype=torch.qint8)


class Student(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 10))
        self.loss = 0.0

    def training_step(self, batch, i):
        out = self.net(batch[0])
        with torch.no_grad():
            soft = teacher(batch[0]).softmax(1)
        loss = 0.5 * nn.functional.cross_entropy(out, batch[1]) + 0.5 * nn.functional.cross_entropy(out, soft)
        self.loss = loss.item()
        return loss

    def validation_step(self, batch, i):
        acc = (self.net(batch[0]).argmax(1) == batch[1]).float().mean().item()
        if not self.trainer.sanity_checking:
            print(f"{self.global_step}/smoke acc={acc:.3f} train_loss={self.loss:.4f}")
            logged(self.global_step, acc=round(acc, 3), train_loss=round(self.loss, 4))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=4e-3)


L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(
    Student(), DataLoader(TensorDataset(x[:1400], y[:1400]), 64, shuffle=True),
    DataLoader(TensorDataset(x[1400:], y[1400:]), 12, sampler=torch.utils.data.RandomSampler(x[1400:], num_samples=12)))
