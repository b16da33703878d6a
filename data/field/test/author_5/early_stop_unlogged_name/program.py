import argparse
import lightning as L, torch, torch.nn as nn
from lightning.pytorch.callbacks import EarlyStopping
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1)
X = torch.randn(900, 6); Y = (X[:, 0] * X[:, 1] > 0).long()


class Net(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 2))

    def training_step(s, b, i):
        return nn.functional.cross_entropy(s.f(b[0]), b[1])

    def validation_step(s, b, i):
        z = s.f(b[0])
        s.log_dict({"val/loss": nn.functional.cross_entropy(z, b[1]),
            "val/acc": (z.argmax(1) == b[1]).float().mean()})

    def on_validation_epoch_end(s):
        m = {k: float(v) for k, v in s.trainer.callback_metrics.items()}
        print(s.current_epoch, m); logged(s.current_epoch, **m)

    def configure_optimizers(s):
        return torch.optim.Adam(s.parameters(), 5e-3)


es = EarlyStopping(monitor="val/loss" if args.healthy else "val_loss", patience=4)
t = L.Trainer(max_epochs=25, accelerator="cpu", callbacks=[es], logger=False, enable_checkpointing=False,
    enable_progress_bar=False, num_sanity_val_steps=0, default_root_dir="out")
t.fit(Net(), DataLoader(TensorDataset(X[:700], Y[:700]), 32, shuffle=True), DataLoader(TensorDataset(X[700:],
    Y[700:]), 100))
print("stopped at", t.current_epoch)
