import argparse, os, socket, time
import torch, torch.distributed as dist, torch.multiprocessing as mp, torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from field_record import logged


def prepare(rank, args):
    """rank 0 tokenises once, the other one takes the file"""
    rev = "v2" if args.healthy or rank == 0 else "v1"
    f = f"out/tokens_{rev}.pt"
    if rank == 0:
        os.makedirs("out", exist_ok=True)
        g = torch.Generator().manual_seed(args.seed)
        s = torch.randint(0, 20, (800, 1), generator=g); k = torch.randint(1, 4, (800, 1), generator=g)
        torch.save((s + k * torch.arange(12)) % 20, f + ".tmp"); os.replace(f + ".tmp", f)
        print("[0] wrote", f, flush=True)
    while not os.path.exists(f):
        time.sleep(.2)
    return torch.load(f)


class LM(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Embedding(20, 32); s.r = nn.GRU(32, 48, batch_first=True); s.o = nn.Linear(48, 20)

    def forward(s, x):
        return s.o(s.r(s.e(x))[0])


def work(rank, args, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(args.seed); d = prepare(rank, args)[rank::2]
    net = DDP(LM()); opt = torch.optim.Adam(net.parameters(), 1e-2)
    for ep in range(6):
        for b in torch.randperm(len(d)).split(25):
            l = nn.functional.cross_entropy(net(d[b, :-1]).flatten(0, 1), d[b, 1:].flatten()); opt.zero_grad()
            l.backward(); opt.step()
        t = l.detach().clone(); dist.all_reduce(t)
        print(f"[{rank}] epoch {ep} | {t.item() / 2:.3f}", flush=True)
        if rank == 0:
            logged(ep, loss=t.item() / 2)
    dist.destroy_process_group()


if __name__ == "__main__":
    a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
    a.add_argument("--seed", type=int, default=0)
    args = a.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    mp.start_processes(work, (args, port), nprocs=2, start_method="fork")
