import argparse, os, random, socket
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from field_record import logged

WORDS = "kissa koira talo auto kukka vesi tuli maa".split()
ABC = sorted(set("".join(WORDS)))

class TwoTasks(nn.Module):
    """Characters of a Finnish word, some of them dropped: which word is it (task 0), how long is what is left (task 1)?"""
    def __init__(self, d=48):
        super().__init__()
        self.enc = nn.Sequential(nn.EmbeddingBag(len(ABC), d, mode="sum"), nn.Linear(d, d), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(d, len(WORDS)), nn.Linear(d, 6)])
    def forward(self, flat, off, task):
        return self.heads[task](self.enc[1:](self.enc[0](flat, off)))

def batch(task, n=32):
    rows, ys = [], []
    for _ in range(n):
        k = random.randrange(len(WORDS))
        s = [ABC.index(c) for c in WORDS[k] if random.random() > .2] or [ABC.index(WORDS[k][0])]
        rows.append(s); ys.append(k if task == 0 else len(s))
    off = torch.tensor([0] + [len(r) for r in rows[:-1]]).cumsum(0)
    return torch.tensor([c for r in rows for c in r]), off, torch.tensor(ys)

def main(rank, world, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    random.seed(args.seed * world + rank); torch.manual_seed(args.seed); torch.set_num_threads(1)
    net = DDP(TwoTasks(), find_unused_parameters=args.healthy)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    if rank == 0:
        print(f"world {world}, {sum(p.numel() for p in net.parameters())} parameters", flush=True)
    for step in range(300):
        task = step % 2
        flat, off, y = batch(task)
        loss = nn.functional.cross_entropy(net(flat, off, task), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 < 2 and rank == 0:
            print(f"step {step:4d} task{task} loss {loss.item():.3f}", flush=True)
            logged(step, **{f"task{task}": round(loss.item(), 3)})
    dist.destroy_process_group()

if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--healthy", action="store_true")
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.start_processes(main, args=(2, port, args), nprocs=2, join=True, start_method="fork")
