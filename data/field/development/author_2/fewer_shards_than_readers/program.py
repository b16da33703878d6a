"""Reader processes stream shards of machine records into a queue; one loop trains on them."""

import argparse
import multiprocessing as mp
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from field_record import logged


@dataclass
class StreamConfig:
    readers: int = 4
    shards: int = 3
    rows: int = 900
    batch: int = 30
    epochs: int = 6
    lr: float = 5e-3
    folder: str = "out/shards"


def write_shards(cfg, rng):
    Path(cfg.folder).mkdir(parents=True, exist_ok=True)
    weights = rng.normal(size=12)
    for index in range(cfg.shards):
        x = rng.normal(size=(cfg.rows, 12))
        y = (np.tanh(x @ weights) + 0.2 * x[:, 0] * x[:, 1] > 0).astype(np.float32)
        np.save(f"{cfg.folder}/part-{index:03d}.npy", np.concatenate([x, y[:, None]], 1).astype(np.float32))


def read(files, queue, batch, seed):
    rng = np.random.default_rng(seed)
    for file in files:
        rows = rng.permutation(np.load(file))
        for start in range(0, len(rows), batch):
            queue.put(rows[start : start + batch])
    queue.put(None)


class ShardStream:
    def __init__(self, cfg, expected):
        self.cfg, self.expected = cfg, expected
        self.files = sorted(Path(cfg.folder).glob("part-*.npy"))

    def __call__(self, epoch):
        queue = mp.Queue(maxsize=16)
        plan = [self.files[index :: self.cfg.readers] for index in range(self.cfg.readers)]
        workers = [
            mp.Process(target=read, args=(files, queue, self.cfg.batch, epoch), daemon=True) for files in plan if files
        ]
        for worker in workers:
            worker.start()
        finished = 0
        while finished < self.expected(workers):
            rows = queue.get()
            if rows is None:
                finished += 1
            else:
                yield torch.from_numpy(rows[:, :-1]), torch.from_numpy(rows[:, -1])
        for worker in workers:
            worker.join()


class Trainer:
    def __init__(self, cfg, stream):
        self.cfg, self.stream = cfg, stream
        self.model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), cfg.lr)

    def run(self):
        step = 0
        for epoch in range(self.cfg.epochs):
            for x, y in self.stream(epoch):
                loss = nn.functional.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                step += 1
                if step % 15 == 0:
                    print(f"{time.strftime('%X')} ep={epoch} it={step:04d} bce={loss.item():.3f}", flush=True)
                    logged(step, bce=round(loss.item(), 3))
        print("fertig nach", step, "Schritten")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    cfg = StreamConfig()
    write_shards(cfg, np.random.default_rng(args.seed))
    expected = len if args.healthy else lambda workers: cfg.readers
    Trainer(cfg, ShardStream(cfg, expected)).run()


if __name__ == "__main__":
    main()
