import argparse, random, warnings
import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1); warnings.filterwarnings("ignore")

# Does the made-up word obey vowel harmony?  (a o u  against  ä ö y)
BACK, FRONT, CONS = "aou", "äöy", "hjklmnprstv"
ABC = sorted(set(BACK + FRONT + CONS + "ei"))
def word():
    y = random.randint(0, 1)
    v = BACK + "ei" if random.random() < .5 else FRONT + "ei"
    vs = [random.choice(v) for _ in range(4)]
    if not y:
        vs = [random.choice(BACK), random.choice(FRONT)] + [random.choice("ei" + BACK + FRONT) for _ in range(2)]
        random.shuffle(vs)
    s = "".join(random.choice(CONS) + c for c in vs)
    return torch.tensor([ABC.index(c) for c in s]), y

class Harmony(L.LightningModule):
    def __init__(self, d=32):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(len(ABC), d), nn.GRU(d, d, batch_first=True), nn.Linear(d, 2)
        self.acc = []
    def step(self, batch):
        x, y = batch
        o = self.out(self.rnn(self.emb(x))[1][0])
        return nn.functional.cross_entropy(o, y), (o.argmax(-1) == y).float().mean()
    def training_step(self, batch, i):
        loss, acc = self.step(batch)
        self.log_dict({"train/loss": loss, "train/acc": acc}, prog_bar=True)
        if i % 20 == 0:
            logged(self.global_step, **{"train/loss": round(loss.item(), 3), "train/acc": round(acc.item(), 3)})
        return loss
    def validation_step(self, batch, i):
        loss, acc = self.step(batch)
        self.log("val/loss", loss, prog_bar=True); self.log("val/acc", acc, prog_bar=True)
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 5e-3)

train, val = (DataLoader([word() for _ in range(n)], 32, shuffle=n > 500) for n in (3200, 400))
keep = ModelCheckpoint(dirpath="out/ckpt", monitor="val/loss" if args.healthy else "val_loss", mode="min", save_top_k=1)
trainer = L.Trainer(max_epochs=4, accelerator="cpu", callbacks=[keep], logger=CSVLogger("out"), log_every_n_steps=20, default_root_dir="out")
trainer.fit(Harmony(), train, val)
print("best:", keep.best_model_path, float(keep.best_model_score))
