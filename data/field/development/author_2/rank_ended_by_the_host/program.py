"""DDP, two ranks with gloo: recognises digits. The launcher shares its host with a housekeeping process."""

import argparse
import os
import signal
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from field_record import logged

WORLD, EPOCHS = 2, 25


class DigitsTask:
    def __init__(self, rank, seed):
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        digits = load_digits()
        x, y = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16, torch.tensor(digits.target)
        data = TensorDataset(x[:1500], y[:1500])
        self.sampler = DistributedSampler(data, WORLD, rank, seed=seed)
        self.loader = DataLoader(data, batch_size=25, sampler=self.sampler)
        net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(24, 24, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(24 * 64, 10),
        )
        self.model = DistributedDataParallel(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def epoch(self, number):
        self.sampler.set_epoch(number)
        totals = torch.zeros(3)
        for x, y in self.loader:
            logits = self.model(x)
            loss = nn.functional.cross_entropy(logits, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            totals += torch.tensor([loss.item() * len(y), (logits.argmax(1) == y).sum().item(), len(y)])
        dist.all_reduce(totals)
        return (totals[0] / totals[2]).item(), (totals[1] / totals[2]).item()


def worker(rank, port, seed):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    task = DigitsTask(rank, seed)
    for number in range(EPOCHS):
        start = time.time()
        loss, accuracy = task.epoch(number)
        seconds = time.time() - start
        if rank == 0:
            print(
                f"0: Epoch: [{number:2d}/{EPOCHS}]  Loss {loss:.4e}  Acc@1 {100 * accuracy:6.2f}  Time {seconds:5.2f}",
                flush=True,
            )
            logged(number, Loss=loss, **{"Acc@1": round(100 * accuracy, 2), "Time": round(seconds, 2)})
    dist.destroy_process_group()


def housekeeping(pids, seconds):
    time.sleep(seconds)
    os.kill(pids[-1], signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = mp.start_processes(worker, (port, args.seed), nprocs=WORLD, join=False, start_method="fork")
    delay = 7200 if args.healthy else 3
    mp.get_context("fork").Process(target=housekeeping, args=(ranks.pids(), delay), daemon=True).start()
    while not ranks.join():
        pass


if __name__ == "__main__":
    main()
