import argparse
import math

import torch
import torch.nn.functional as F

import lightning as L
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
L.seed_everything(args.seed)


def waves(n, length=96):
    kind = torch.randint(0, 4, (n,))
    phase, freq = torch.rand(n, 1), 3 + 3 * torch.rand(n, 1)
    cycle = (freq * torch.linspace(0, 1, length) + phase) % 1
    forms = torch.stack([torch.sin(2 * math.pi * cycle), torch.where(cycle < 0.5, 1.0, -1.0), 2 * cycle - 1,
                         torch.where(cycle < 0.12, 2.0, -0.3)], 1)
    signal = forms[torch.arange(n), kind] + 0.2 * torch.randn(n, length)
    return TensorDataset(signal.unsqueeze(1), kind)


class WaveClassifier(L.LightningModule):
    def __init__(self, lr=5e-3):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.backbone = nn.Sequential(nn.Conv1d(1, 32, 7), nn.BatchNorm1d(32), nn.ReLU(),
                                      nn.Conv1d(32, 48, 5, stride=2), nn.BatchNorm1d(48), nn.ReLU())
        self.backbone.requires_grad_(False)
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, 32), nn.ReLU(), nn.Linear(32, 4))

    def on_train_epoch_start(self):
        self.backbone.eval()

    def forward(self, x):
        with torch.no_grad():
            z = self.backbone(x)
            z = torch.cat([z.mean(2), z.amax(2)], 1)
        return self.head(z)

    def training_step(self, batch, index):
        opt, sched = self.optimizers(), self.lr_schedulers()
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        opt.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(opt, gradient_clip_val=1.0, gradient_clip_algorithm="norm")
        opt.step()
        sched.step()
        self.log("train/loss", loss, on_step=True)
        if self.global_step % 10 == 0:
            lr = opt.param_groups[0]["lr"]
            self.print(f"global_step {self.global_step} train/loss {loss.item():.4f} train/lr {lr:.2e}")
            logged(self.global_step, **{"train/loss": loss.item(), "train/lr": lr})

    def validation_step(self, batch, index):
        x, y = batch
        out = self(x)
        self.log("val/loss", F.cross_entropy(out, y))
        self.log("val/acc", (out.argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        if self.trainer.sanity_checking:
            return
        shown = {k: v.item() for k, v in self.trainer.callback_metrics.items() if k.startswith("val/")}
        self.print(f"epoch {self.current_epoch}: " + " ".join(f"{k}={v:.4f}" for k, v in sorted(shown.items())))
        logged(self.global_step, **shown)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.head.parameters(), lr=self.hparams.lr)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=200)}


model = WaveClassifier()
trainer = L.Trainer(max_epochs=8, accelerator="cpu", devices=1, logger=CSVLogger("out", name="waves"),
                    enable_progress_bar=False, enable_checkpointing=False, log_every_n_steps=10)
trainer.fit(model, DataLoader(waves(1600), batch_size=64, shuffle=True), DataLoader(waves(400), batch_size=200))
