"""Accelerate: keyword spotting on augmented waveforms; a guard ends what grows beyond the container's memory."""
import argparse
import multiprocessing as mp
import os
import signal
import time

import psutil
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from field_record import logged


def guard(pid: int, limit: int) -> None:
    """The container's limit of resident memory."""
    process = psutil.Process(pid)
    while process.memory_info().rss < limit:
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)


class Keywords(Dataset):
    def __init__(self, n: int, keep: int) -> None:
        self.n, self.keep, self.cache = n, keep, {}

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        shift = int(torch.randint(0, 400, (1,)))
        if (i, shift) not in self.cache:
            time_axis = torch.arange(8000) + shift
            wave = torch.sin(time_axis * (0.05 + 0.02 * (i % 4))) + 0.1 * torch.randn(8000)
            spectrum = torch.stft(wave, 256, 64, window=torch.hann_window(256), return_complex=True).abs()
            self.cache[i, shift] = spectrum.log1p()
            while len(self.cache) > self.keep:
                self.cache.pop(next(iter(self.cache)))
        return self.cache.get((i, shift)), i % 4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    dataset = Keywords(256, keep=64 if args.healthy else 10**6)
    net = nn.Sequential(nn.Linear(129, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    net, optimizer, loader = accelerator.prepare(net, optimizer, DataLoader(dataset, batch_size=16, shuffle=True))
    limit = psutil.Process().memory_info().rss + 160 * 2**20
    mp.get_context("fork").Process(target=guard, args=(os.getpid(), limit), daemon=True).start()
    step = 0
    for epoch in range(10):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.mean(-1)), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 4 == 0:
                rss = psutil.Process().memory_info().rss / 2**20
                print(f"INFO:train:step={step} loss={loss.item():.4g} rss_mb={rss:.0f}", flush=True)
                logged(step, loss=float(f"{loss.item():.4g}"), rss_mb=round(rss))


if __name__ == "__main__":
    main()
