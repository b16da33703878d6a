import argparse, os, socket
import torch, torch.distributed as dist, torch.multiprocessing as mp, torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from field_record import logged


class Two(nn.Module):  # image tower and graph tower; the batch says which
    def __init__(s):
        super().__init__()
        s.v, s.g, s.o = nn.Linear(64, 32), nn.Linear(16, 32), nn.Linear(32, 2)

    def forward(s, x, kind):
        return s.o(torch.relu(s.v(x) if kind == "img" else s.g(x)))


def work(rank, args, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2); torch.manual_seed(args.seed + rank)
    net = DDP(Two(), find_unused_parameters=args.healthy)
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for s in range(120):
        kind = "img" if s % 2 == 0 else "graph"
        y = torch.randint(0, 2, (32,)); x = torch.randn(32, 64 if kind == "img" else 16) + (2 * y[:, None] - 1) * .5
        l = nn.functional.cross_entropy(net(x, kind), y); opt.zero_grad(); l.backward(); opt.step()
        if s % 10 == 0:
            print(f"[r{rank}] {s:03d}/{kind} {l.item():.4f}", flush=True)
            if rank == 0:
                logged(s, loss=l.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
    a.add_argument("--seed", type=int, default=0)
    args = a.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    mp.start_processes(work, (args, port), nprocs=2, start_method="fork")
