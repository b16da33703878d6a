import argparse
import lightning as L, torch, torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images).float()[:, None] / 16; Y = torch.tensor(d.target)
p = torch.randperm(len(X)); X, Y = X[p], Y[p]


class Cnn(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(),
            nn.Linear(256, 10)); s.h = []

    def training_step(s, b, i):
        l = nn.functional.cross_entropy(s.f(b[0]), b[1]); s.h.append(l.item())
        return l

    def on_train_epoch_end(s):
        lr = s.trainer.optimizers[0].param_groups[0]["lr"]; m = sum(s.h) / len(s.h); s.h = []
        with torch.no_grad():
            va = (s.f(X[1500:]).argmax(1) == Y[1500:]).float().mean().item()
        print(f"E{s.current_epoch + 1:<3} lr {lr:.2e}; loss {m:.3f}; dev {va * 100:.1f} %")
        logged(s.current_epoch + 1, lr=lr, loss=m, dev=va * 100)

    def configure_optimizers(s):
        o = torch.optim.SGD(s.parameters(), .05, momentum=.9)
        return [o], [{"scheduler": torch.optim.lr_scheduler.ExponentialLR(o, .7),
            "interval": "epoch" if args.healthy else "step"}]


t = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, default_root_dir="out")
t.fit(Cnn(), DataLoader(TensorDataset(X[:1500], Y[:1500]), 50, shuffle=True))
