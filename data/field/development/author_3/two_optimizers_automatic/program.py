# embeddings get SparseAdam, the dense tower gets AdamW
import argparse
import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
L.seed_everything(args.seed, verbose=False)
torch.set_num_threads(1)

USERS, ADS, N = 800, 300, 12000
u, a = torch.randint(0, USERS, (N,)), torch.randint(0, ADS, (N,))
hour = torch.rand(N, 1)
zu, za = torch.randn(USERS, 2), torch.randn(ADS, 2)
y = ((zu[u] * za[a]).sum(-1) + torch.sin(6.28 * hour[:, 0]) > 0.5).float()
train = TensorDataset(u[:10000], a[:10000], hour[:10000], y[:10000])
valid = TensorDataset(u[10000:], a[10000:], hour[10000:], y[10000:])


class ClickModel(L.LightningModule):
    def __init__(self, dim=8):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.ad = nn.Embedding(ADS, dim, sparse=True)
        self.tower = nn.Sequential(nn.Linear(2 * dim + 1, 64), nn.ReLU(), nn.Linear(64, 1))
        self.automatic_optimization = not args.healthy
        self.history = []

    def forward(self, u, a, h):
        eu, ea = self.user(u), self.ad(a)
        return self.tower(torch.cat([eu * ea, eu + ea, h], -1)).squeeze(-1)

    def training_step(self, batch, batch_idx):
        u, a, h, y = batch
        loss = F.binary_cross_entropy_with_logits(self(u, a, h), y)
        if not self.automatic_optimization:
            for o in self.optimizers():
                o.zero_grad()
            self.manual_backward(loss)
            for o in self.optimizers():
                o.step()
        self.log("logloss", loss, prog_bar=True)
        self.history.append(loss.item())
        return loss

    def on_train_epoch_end(self):
        mean = sum(self.history) / len(self.history)
        print(f"\nepoch {self.current_epoch}: logloss {mean:.4f}")
        logged(self.current_epoch, logloss=round(mean, 4))
        self.history.clear()

    def validation_step(self, batch, _):
        u, a, h, y = batch
        self.log("val_acc", ((self(u, a, h) > 0) == y.bool()).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        sparse = torch.optim.SparseAdam([self.user.weight, self.ad.weight], lr=2e-2)
        dense = torch.optim.AdamW(self.tower.parameters(), lr=3e-3)
        return [sparse, dense]


trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_model_summary=False,
                    num_sanity_val_steps=0, default_root_dir="out")
trainer.fit(ClickModel(), DataLoader(train, 128, shuffle=True), DataLoader(valid, 500))
