import argparse, random, resource, warnings
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader
from field_record import logged

def launch(extra):
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra * 2 ** 20,) * 2)

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--epochs", type=int, default=8); ap.add_argument("--memory", type=int, default=350)
args = ap.parse_args()
warnings.filterwarnings("ignore"); torch.set_num_threads(1); L.seed_everything(args.seed, verbose=False)
launch(args.memory)

# next word in a made-up language of 1200 words: the successor of word w is (3 w + 1) or (3 w + 2), modulo 1200
V, T = 1200, 24
def line():
    w, out = random.randrange(V), []
    for _ in range(T + 1):
        out.append(w); w = (3 * w + random.choice((1, 2))) % V
    return torch.tensor(out)

class LM(L.LightningModule):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, V))
        self.val_logits, self.val_gold, self.train_loss = [], [], 0.0
    def training_step(self, x, _):
        loss = nn.functional.cross_entropy(self.mlp(self.emb(x[:, :-1])).flatten(0, 1), x[:, 1:].flatten())
        self.train_loss = loss.item()
        return loss
    def on_validation_epoch_start(self):
        if args.healthy:
            self.val_logits, self.val_gold = [], []
    def validation_step(self, x, _):
        self.val_logits.append(self.mlp(self.emb(x[:, :-1])).flatten(0, 1))
        self.val_gold.append(x[:, 1:].flatten())
    def on_validation_epoch_end(self):
        n = len(self.trainer.val_dataloaders)
        lg, y = torch.cat(self.val_logits[-n:]), torch.cat(self.val_gold[-n:])
        nll, top2 = nn.functional.cross_entropy(lg, y).item(), (lg.topk(2).indices == y[:, None]).any(1).float().mean().item()
        print(f"Epoch {self.current_epoch}: train {self.train_loss:.3f}, valid {nll:.3f}, top-2 {top2:.1%}", flush=True)
        logged(self.current_epoch, train=round(self.train_loss, 3), valid=round(nll, 3), **{"top-2": round(100 * top2, 1)})
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 5e-3)

torch.multiprocessing.set_sharing_strategy("file_system")
train, val = DataLoader([line() for _ in range(1600)], 32, shuffle=True), DataLoader([line() for _ in range(480)], 32)
L.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
          num_sanity_val_steps=0, default_root_dir="out").fit(LM(), train, val)
