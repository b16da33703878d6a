import argparse, logging
import lightning as L
import torch
import warnings
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
warnings.filterwarnings("ignore"); torch.set_num_threads(1); L.seed_everything(args.seed)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
log = logging.getLogger("density")

# reading times in seconds of words by length and frequency, with small noise: mean and spread are both predicted
def table(n):
    length, freq = torch.randint(1, 13, (n, 1)).float() / 12, torch.rand(n, 1)
    t = .2 + .15 * length - .08 * freq * length + (.005 + .01 * freq) * torch.randn(n, 1)
    return TensorDataset(torch.cat([length, freq], 1), t)

class Density(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
        self.sums = [0., 0]
    def training_step(self, batch, _):
        x, y = batch
        mu, s = self.net(x).chunk(2, -1)
        nll = nn.functional.gaussian_nll_loss(mu, y, (2 * s).exp(), full=True)
        self.sums = [self.sums[0] + nll.item(), self.sums[1] + 1]
        return nll
    def on_train_epoch_end(self):
        mean = self.sums[0] / self.sums[1]
        log.info("epoch=%d train_nll=%.3f", self.current_epoch, mean)
        logged(self.current_epoch, train_nll=round(mean, 3)); self.sums = [0., 0]
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 3e-3)

L.Trainer(max_epochs=16, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, gradient_clip_val=5.0,
          default_root_dir="out").fit(Density(), DataLoader(table(3200), 64, shuffle=True))
