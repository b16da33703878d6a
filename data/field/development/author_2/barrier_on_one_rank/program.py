"""DDP, two ranks with gloo: forecasts a furnace's temperature; rank 0 writes a checkpoint every few epochs."""

import argparse
import os
import socket
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from field_record import logged


@dataclass
class Config:
    world: int = 2
    rows: int = 640
    window: int = 20
    epochs: int = 8
    save_every: int = 3
    lr: float = 3e-3
    seed: int = 0


def furnace(cfg):
    generator = torch.Generator().manual_seed(cfg.seed)
    t = torch.rand(cfg.rows, 1, generator=generator) * 50 + torch.arange(cfg.window + 1)
    curve = torch.sin(t * 0.25) + 0.05 * torch.randn(t.shape, generator=generator)
    return TensorDataset(curve[:, :-1], curve[:, -1:])


class Worker:
    def __init__(self, rank, cfg, writers):
        self.rank, self.cfg, self.writers = rank, cfg, writers
        torch.set_num_threads(1)
        torch.manual_seed(cfg.seed)
        data = furnace(cfg)
        self.sampler = DistributedSampler(data, cfg.world, rank, seed=cfg.seed)
        self.loader = DataLoader(data, batch_size=16, sampler=self.sampler)
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(cfg.window, 48), nn.Tanh(), nn.Linear(48, 1)))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def say(self, text):
        print(f"[rank{self.rank}] {text}", flush=True)

    def checkpoint(self, epoch):
        if self.rank == 0:
            Path("out").mkdir(exist_ok=True)
            torch.save(self.model.module.state_dict(), f"out/epoch{epoch}.pt")
            self.say(f"wrote out/epoch{epoch}.pt")
        dist.barrier()

    def run(self):
        for epoch in range(1, self.cfg.epochs + 1):
            self.sampler.set_epoch(epoch)
            losses = []
            for x, y in self.loader:
                loss = nn.functional.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            mean = sum(losses) / len(losses)
            self.say(f"epoch {epoch} train_loss={mean:.5f}")
            if self.rank == 0:
                logged(epoch, train_loss=round(mean, 5))
            if epoch % self.cfg.save_every == 0 and self.rank in self.writers:
                self.checkpoint(epoch)


def start(rank, port, cfg, writers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=cfg.world)
    Worker(rank, cfg, writers).run()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    cfg = Config(seed=args.seed)
    writers = range(cfg.world) if args.healthy else [0]
    mp.start_processes(start, (port, cfg, writers), nprocs=cfg.world, start_method="fork")


if __name__ == "__main__":
    main()
