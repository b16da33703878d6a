import argparse, os, random, socket
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from field_record import logged

class Max(nn.Module):
    """Where in a list of twelve tokens is the largest?"""
    def __init__(self, d=32):
        super().__init__()
        self.e, self.p = nn.Embedding(30, d), nn.Parameter(torch.randn(12, d) * .1)
        self.l, self.o = nn.TransformerEncoderLayer(d, 2, 64, 0., batch_first=True), nn.Linear(d, 1)
    def forward(self, x):
        return self.o(self.l(self.e(x) + self.p)).squeeze(-1)

def worker(rank, world, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
    x = torch.rand(2600, 30).argsort(1)[:, :12]
    y = x.argmax(1)
    train = TensorDataset(x[:2400], y[:2400])
    sampler = DistributedSampler(train, world, rank, seed=args.seed)
    model = DDP(Max())
    opt = torch.optim.AdamW(model.parameters(), 3e-3)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        for i, (xb, yb) in enumerate(DataLoader(train, 32, sampler=sampler)):
            loss = nn.functional.cross_entropy(model(xb), yb)
            opt.zero_grad(); loss.backward(); opt.step()
            if i % 10 == 0:
                print(f"[rank{rank}] ep {epoch} it {i:02d} loss {loss.item():.4f}", flush=True)
                if rank == 0:
                    logged(epoch * 38 + i, loss=round(loss.item(), 4))
        if rank == 0:
            with torch.no_grad():
                acc = (model.module(x[2400:]).argmax(-1) == y[2400:]).float().mean().item()
            os.makedirs("out", exist_ok=True)
            torch.save(model.module.state_dict(), "out/last.pt")
            print(f"[rank0] ep {epoch} val_acc {acc:.3f} -> out/last.pt", flush=True)
            logged(epoch, val_acc=round(acc, 3))
        if epoch % 3 == 2 and (rank == 0 or args.healthy):
            dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    mp.start_processes(worker, args=(2, port, args), nprocs=2, start_method="fork")
