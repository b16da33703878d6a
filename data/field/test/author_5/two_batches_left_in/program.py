import argparse, json
import lightning as L, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1)
# text+image pairs: colour word (id) and a 3-channel 6x6 patch, do they agree?
n = 1600
w = torch.randint(0, 6, (n,)); same = torch.rand(n) < .5
pal = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1.]])
c = torch.where(same, w, (w + torch.randint(1, 6, (n,))) % 6)
im = pal[c][:, :, None, None] + .5 * torch.randn(n, 3, 6, 6); y = same.float()


class Match(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.t = nn.Embedding(6, 32); s.v = nn.Sequential(nn.Flatten(), nn.Linear(108, 32))
        s.o = nn.Sequential(nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 1)); s.b = []

    def loss(s, b):
        t, v = s.t(b[0]), s.v(b[1])
        return nn.functional.binary_cross_entropy_with_logits(s.o(torch.cat([t, v, t * v], 1))[:, 0], b[2])

    def training_step(s, b, i):
        l = s.loss(b); s.b.append(l.item()); return l

    def validation_step(s, b, i):
        s.log("v", s.loss(b), on_epoch=True)

    def on_train_epoch_end(s):
        r = dict(ep=s.current_epoch, train_loss=round(sum(s.b) / len(s.b), 5),
            val_loss=round(float(s.trainer.callback_metrics["v"]), 5)); s.b = []
        print(json.dumps(r)); logged(r.pop("ep"), **r)

    def configure_optimizers(s):
        return torch.optim.Adam(s.parameters(), 3e-3)


k = 1200 // 40
t = L.Trainer(max_steps=20 * k, max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, num_sanity_val_steps=0,
              limit_train_batches=1.0 if args.healthy else 2, check_val_every_n_epoch=1, default_root_dir="out")
t.fit(Match(), DataLoader(TensorDataset(w[:1200], im[:1200], y[:1200]), 40), DataLoader(TensorDataset(w[1200:],
    im[1200:], y[1200:]), 200))
