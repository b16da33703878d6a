"""Screenshots: which widget is shown? Decoding is slow, hence the small cache."""
import argparse
import json
import resource

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def launch(extra_mb):
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData"))
    limit = used * 1024 + extra_mb * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


class Screens(Dataset):
    def __init__(self, size, keep):
        self.size, self.keep, self.cache, self.epoch = size, keep, {}, 0

    def __len__(self):
        return self.size

    def decode(self, i):
        rng = np.random.default_rng((i, self.epoch, args.seed))
        image = rng.random((128, 128), dtype=np.float64) * 0.4
        x, y = rng.integers(8, 80, 2)
        if i % 2:
            image[y:y + 32, x:x + 32] += 1
        else:
            image[y:y + 32:4, x:x + 32] += 1
        return bytearray(image.astype(np.float32).tobytes())

    def __getitem__(self, i):
        key = (i, self.epoch)
        if key not in self.cache:
            while len(self.cache) >= self.keep:
                self.cache.pop(next(iter(self.cache)))
            self.cache[key] = self.decode(i)
        return torch.frombuffer(self.cache[key], dtype=torch.float32).view(1, 128, 128).clone(), i % 2


launch(220)
screens = Screens(512, keep=256 if args.healthy else 10**9)
net = nn.Sequential(nn.Conv2d(1, 8, 5, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(10):
    screens.epoch = epoch
    for step, (image, kind) in enumerate(DataLoader(screens, batch_size=32, shuffle=True)):
        loss = nn.functional.cross_entropy(net(image), kind)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 4 == 0:
            rss = int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
            print(json.dumps({"epoch": epoch, "step": step, "loss": round(loss.item(), 4), "rss_mib": round(rss)}))
            logged(epoch * 16 + step, loss=round(loss.item(), 4), rss_mib=round(rss))
