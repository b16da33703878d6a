import argparse, warnings
import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--lr", type=float, default=.05)
args = ap.parse_args()
warnings.filterwarnings("ignore"); torch.set_num_threads(1); L.seed_everything(args.seed)

class Net(L.LightningModule):
    def __init__(self, lr, wd):
        super().__init__()
        self.save_hyperparameters()
        self.body = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))
        self.acc = MulticlassAccuracy(10, average="micro")
    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self.body(x), y)
        self.log("loss", loss, on_epoch=True, on_step=False)
        return loss
    def validation_step(self, batch, _):
        x, y = batch
        out = self.body(x)
        self.acc.update(out, y)
        self.log("val_loss", nn.functional.cross_entropy(out, y))
        self.log("val_acc", self.acc)
    def on_train_epoch_end(self):
        m = {k: float(v) for k, v in self.trainer.callback_metrics.items()}
        print(" | ".join([f"epoch {self.current_epoch:02d}"] + [f"{k} {m[k]:7.4f}" for k in ("loss", "val_loss", "val_acc")]))
        logged(self.current_epoch, **{k: round(m[k], 4) for k in ("loss", "val_loss", "val_acc")})
    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=.9, weight_decay=self.hparams.wd)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, self.trainer.max_epochs)]

X, y = load_digits(return_X_y=True)
Xa, Xb, ya, yb = train_test_split(torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y), test_size=.2, random_state=args.seed)
net = Net(args.lr, wd=1e-4 if args.healthy else 1e-1)
trainer = L.Trainer(max_epochs=14, accelerator="cpu", logger=CSVLogger("out", name="digits"), enable_progress_bar=False, enable_checkpointing=False, num_sanity_val_steps=0)
trainer.fit(net, DataLoader(TensorDataset(Xa, ya), 32, shuffle=True), DataLoader(TensorDataset(Xb, yb), 64))
print("hparams", dict(net.hparams))
