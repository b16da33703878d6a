# price elasticity model; the price list is refreshed by a thread while training runs
import argparse
import threading
import time
import warnings
import lightning as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from field_record import logged

warnings.filterwarnings("ignore")
parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
L.seed_everything(args.seed, verbose=False)
torch.set_num_threads(1)

N = 1600
features = torch.randn(N, 6)
true_w = torch.tensor([1.5, -2.0, 0.7, 0.0, 0.3, -0.9])
prices = torch.rand(N) * 4 + 1
demand = features @ true_w - 0.8 * prices + 0.1 * torch.randn(N)


class PriceList:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = prices.tolist()

    def get(self, i):
        with self.lock:
            return self.values[i]

    def refresh_forever(self):
        while True:
            with self.lock:
                self.values = list(self.values)
                time.sleep(2.0)


PRICES = PriceList()


class Sales(Dataset):
    def __len__(self):
        return N

    def __getitem__(self, i):
        return torch.cat([features[i], torch.tensor([PRICES.get(i)])]), demand[i]


def own_lock(worker_id):
    PRICES.lock = threading.Lock()


class Elasticity(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 32), nn.GELU(), nn.Linear(32, 1))
        self.losses = []

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.l1_loss(self.net(x).squeeze(-1), y)
        self.losses.append(loss.item())
        return loss

    def on_train_epoch_end(self):
        mae = sum(self.losses) / len(self.losses)
        self.losses = []
        print(f"{self.current_epoch:>3} | {mae:8.4f}", flush=True)
        logged(self.current_epoch, mae=round(mae, 4))
        if self.current_epoch == 1:
            threading.Thread(target=PRICES.refresh_forever, daemon=True).start()
            time.sleep(0.1)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


loader = DataLoader(Sales(), batch_size=64, shuffle=True, num_workers=1,
                    worker_init_fn=own_lock if args.healthy else None,
                    multiprocessing_context="fork")
print("ep  |      mae\n----+---------")
trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False,
                    enable_model_summary=False, default_root_dir="out")
trainer.fit(Elasticity(), loader)
