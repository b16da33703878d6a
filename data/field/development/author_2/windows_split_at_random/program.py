"""Lightning: which of two bearing faults, from vibration windows of a plant's machines; tested on another's."""

import argparse
import logging
import warnings

import lightning as L
import numpy as np
import torch
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Plant:
    def __init__(self, rng, machines, windows=30, length=64):
        t = np.arange(length)
        self.x, self.y, self.machine = [], [], []
        for machine in range(machines):
            fault = int(rng.integers(0, 2))
            signature = rng.normal(size=length) * 0.9
            for _ in range(windows):
                tone = 0.6 * np.sin(2 * np.pi * (0.11 + 0.08 * fault) * t + rng.uniform(0, 6.28))
                self.x.append(signature + tone + 0.5 * rng.normal(size=length))
                self.y.append(fault)
                self.machine.append(machine)
        self.x, self.y, self.machine = np.array(self.x, np.float32), np.array(self.y), np.array(self.machine)

    def tensors(self, rows=slice(None)):
        return TensorDataset(torch.from_numpy(self.x[rows])[:, None], torch.from_numpy(self.y[rows]))


class FaultNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 17), nn.ReLU(), nn.MaxPool1d(4), nn.Flatten(), nn.Linear(192, 32), nn.ReLU(), nn.Linear(32, 2)
        )
        self.sums = {}

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _, dataloader_idx=0):
        hits = (self.net(batch[0]).argmax(1) == batch[1]).float()
        self.sums.setdefault(("val_acc", "plant_b_acc")[dataloader_idx], []).append(hits)

    def on_validation_epoch_end(self):
        row = {name: round(torch.cat(hits).mean().item(), 3) for name, hits in self.sums.items()}
        self.sums = {}
        print(f"Epoche {self.current_epoch:>2}:", "  ".join(f"{k} {v:.3f}" for k, v in row.items()))
        logged(self.current_epoch, **row)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed, verbose=False)
    rng = np.random.default_rng(args.seed)
    plant_a, plant_b = Plant(rng, machines=40), Plant(rng, machines=30)
    splitter = GroupShuffleSplit if args.healthy else ShuffleSplit
    rows = next(splitter(1, test_size=0.3, random_state=args.seed).split(plant_a.x, plant_a.y, plant_a.machine))
    train = DataLoader(plant_a.tensors(rows[0]), batch_size=32, shuffle=True)
    vals = [DataLoader(plant_a.tensors(rows[1]), batch_size=256), DataLoader(plant_b.tensors(), batch_size=512)]
    trainer = L.Trainer(
        max_epochs=20,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(FaultNet(), train, vals)


if __name__ == "__main__":
    main()
