"""Lightning: spectrogram patches, a callback that looks at hidden activations; the queue limits the memory."""
import argparse
import resource

import torch

import lightning as L
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


def limit_memory(extra_mb: int) -> None:
    with open("/proc/self/status") as file:
        used = next(int(line.split()[1]) for line in file if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_mb * 2**20,) * 2)


class Patches(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(16, 2)
        self.hidden: Tensor | None = None

    def training_step(self, batch, index: int) -> Tensor:
        x, y = batch
        self.hidden = self.features(x)
        loss = nn.functional.cross_entropy(self.head(self.hidden.mean((2, 3))), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-2)


class ActivationWatch(L.Callback):
    def __init__(self, window: int) -> None:
        self.window = window
        self.kept: list[Tensor] = []

    def on_train_batch_end(self, trainer, module, outputs, batch, index) -> None:
        self.kept.append(module.hidden.detach().clone())
        self.kept = self.kept[-self.window:]
        if trainer.global_step % 4 == 0:
            dead = (self.kept[-1] == 0).float().mean().item()
            print(f"step {trainer.global_step}\tloss {outputs['loss'].item():.4f}\tdead {dead:.1%}", flush=True)
            logged(trainer.global_step, loss=round(outputs["loss"].item(), 4), dead=round(100 * dead, 1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(args.seed)
    y = torch.arange(256) % 2
    ramp = torch.sin(torch.arange(48) / 2)
    x = torch.where(y[:, None, None] == 0, ramp[None, :, None], ramp[None, None, :] * 0.2) + 0.2 * torch.randn(256, 48, 48)
    watch = ActivationWatch(window=4 if args.healthy else 10_000)
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", callbacks=[watch], logger=False, enable_checkpointing=False,
                        enable_progress_bar=False)
    limit_memory(220)
    trainer.fit(Patches(), DataLoader(TensorDataset(x[:, None], y), batch_size=16, shuffle=True))


if __name__ == "__main__":
    main()
