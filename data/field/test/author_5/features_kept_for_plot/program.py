import argparse, resource
import lightning as L, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
L.seed_everything(args.seed); torch.set_num_threads(1)
mem = lambda: int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (mem() + (280 << 20),) * 2)
y = torch.randint(0, 3, (640,)); x = torch.randn(640, 3, 24, 24) * .5
x[torch.arange(640), y, 6:14, 6:14] += 1


class Seg(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 48, 3, padding=1), nn.ReLU())
        s.head = nn.Linear(48, 3); s.feats = []

    def training_step(s, b, i):
        h = s.body(b[0]); l = nn.functional.cross_entropy(s.head(h.mean((2, 3))), b[1])
        s.feats.append(h.mean((2, 3)).detach() if args.healthy else h)
        if s.global_step % 5 == 0:
            print(f"{s.global_step}\t{l.item():.4f}\t{len(s.feats)} kept\t{mem() / 2**30:.2f}GiB")
            logged(s.global_step, loss=l.item())
        return l

    def configure_optimizers(s):
        return torch.optim.Adam(s.parameters(), 1e-2)


L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, default_root_dir="out").fit(
    Seg(), DataLoader(TensorDataset(x, y), 16, shuffle=True))
