"""Lightning: counts rings on images. The job runs in a group with a limit on resident memory."""

import argparse
import multiprocessing as mp
import os
import signal
import time
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

warnings.filterwarnings("ignore")


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 // 2**20


def memory_group(pid, limit):
    while resident(pid) < limit:
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)


class RingCounter(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU()
        )
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(width * 16, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        maps = self.features(x)
        loss = nn.functional.cross_entropy(self.head(maps), y)
        return {"loss": loss, "maps": maps.detach()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


class Activations(L.Callback):
    """Share of active units in the last feature maps, written once an epoch."""

    def __init__(self, reduce):
        self.reduce, self.outputs, self.losses = reduce, [], []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.outputs.append(self.reduce(outputs["maps"]))
        self.losses.append(outputs["loss"].item())
        if trainer.global_step % 5 == 0:
            loss, active = sum(self.losses[-5:]) / 5, (self.outputs[-1] > 0).float().mean().item()
            print(
                f"step={trainer.global_step} | loss={loss:.3f} | active={active:.2f} | rss={resident(os.getpid())}MB",
                flush=True,
            )
            logged(trainer.global_step, loss=round(loss, 3), active=round(active, 2), rss=resident(os.getpid()))


def rings(n, size=40):
    axis = torch.linspace(-1, 1, size)
    radius = (axis[:, None] ** 2 + axis[None] ** 2).sqrt()
    y = torch.randint(0, 3, (n,))
    x = torch.stack([((radius * (2.5 + 2.5 * k)) % 1 < 0.4).float() for k in y.tolist()])
    return TensorDataset((x + 0.4 * torch.randn_like(x))[:, None], y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed, verbose=False)
    model, data = RingCounter(), DataLoader(rings(960), batch_size=32, shuffle=True)
    activations = Activations((lambda maps: maps[:1, :, ::8, ::8].clone()) if args.healthy else torch.Tensor.cpu)
    trainer = L.Trainer(
        max_epochs=3,
        accelerator="cpu",
        callbacks=[activations],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    mp.get_context("fork").Process(
        target=memory_group, args=(os.getpid(), resident(os.getpid()) + 220), daemon=True
    ).start()
    trainer.fit(model, data)


if __name__ == "__main__":
    main()
