# two-rank DDP (gloo): click head always, purchase head only on some steps
import argparse
import os
import socket
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 48), nn.ReLU())
        self.click, self.buy = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x, with_buy):
        h = self.trunk(x)
        return self.click(h).squeeze(-1), self.buy(h).squeeze(-1) if with_buy else None


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    ddp = DDP(MultiTask(), find_unused_parameters=args.healthy)
    opt = torch.optim.Adam(ddp.parameters(), lr=3e-3)
    g = torch.Generator().manual_seed(1000 * args.seed + rank)
    bce = nn.functional.binary_cross_entropy_with_logits
    for step in range(300):
        x = torch.randn(64, 16, generator=g)
        clicked, bought = (x[:, 0] + x[:, 1] > 0).float(), (x[:, 0] * x[:, 2] > 0).float()
        with_buy = step < 20 or step % 3 == 0
        c, b = ddp(x, with_buy)
        loss = bce(c, clicked) + (bce(b, bought) if with_buy else 0.0)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            click = bce(c.detach(), clicked).item()
            print(f"[rank{rank}] step {step} click_loss {click:.4f}", flush=True)
            if rank == 0:
                logged(step, click_loss=round(click, 4))
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.start_processes(worker, args=(2, free), nprocs=2, start_method="fork")
