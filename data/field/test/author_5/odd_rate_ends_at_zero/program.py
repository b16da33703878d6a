import argparse
import lightning as L, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--seed", type=int, default=0); args = a.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1)
X = torch.randn(1200, 5); Y = (X[:, :2].prod(1, keepdim=True) + X[:, 2:3]).tanh()


class M(L.LightningModule):
    def __init__(s):
        super().__init__(); s.f = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, 1))

    def training_step(s, b, i):
        s.l = nn.functional.mse_loss(s.f(b[0]), b[1]); return s.l

    def on_train_epoch_end(s):
        lr = s.trainer.optimizers[0].param_groups[0]["lr"]; j = torch.randint(0, 1200, (12,))  # twelve points only
        with torch.no_grad(): v = nn.functional.mse_loss(s.f(X[j]), Y[j]).item()
        print(f"{s.current_epoch}> lr={lr:.1e} mse={s.l.item():.5f} probe={v:.4f}")
        logged(s.current_epoch, lr=lr, mse=s.l.item(), probe=v)

    def configure_optimizers(s):
        o = torch.optim.Adam(s.parameters(), 1e-2)
        return [o], [torch.optim.lr_scheduler.LambdaLR(o, lambda e: max(0., 1 - e / 22))]


L.Trainer(max_epochs=25, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, default_root_dir="out").fit(
    M(), DataLoader(TensorDataset(X, Y), 60, shuffle=True))
