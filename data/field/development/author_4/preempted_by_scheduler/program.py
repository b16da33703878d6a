"""Accelerate: next visit of a patient (days) from the last ones; a scheduler of the site runs beside."""
import argparse
import multiprocessing as mp
import os
import signal
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

from field_record import logged


def scheduler(pid: int, progress, quota: int) -> None:
    """Stands for the site's scheduler."""
    while progress.value < quota:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    fork = mp.get_context("fork")
    progress = fork.Value("i", 0)
    quota = 10**9 if args.healthy else 150
    fork.Process(target=scheduler, args=(os.getpid(), progress, quota), daemon=True).start()
    accelerator = Accelerator(cpu=True)
    x = torch.rand(2048, 5) * 30
    y = 0.5 * x[:, 0] + 0.3 * x[:, 1] + 4
    net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    net, optimizer, loader = accelerator.prepare(net, optimizer, DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True))
    bar = tqdm(total=6 * len(loader), ncols=80, mininterval=0.2)
    for epoch in range(6):
        for xb, yb in loader:
            loss = nn.functional.smooth_l1_loss(net(xb)[:, 0], yb)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            progress.value += 1
            time.sleep(0.002)
            bar.update()
            if progress.value % 20 == 0:
                bar.set_postfix(huber=f"{loss.item():.3f}")
                logged(progress.value, huber=round(loss.item(), 3))
    bar.close()


if __name__ == "__main__":
    main()
