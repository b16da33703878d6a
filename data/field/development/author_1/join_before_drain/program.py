import argparse, random, time
import multiprocessing as mp
import numpy as np
import torch, torch.nn as nn
from field_record import logged

def make(seed, n, length, queue):
    """'abcd>dcba': reverse strings of `length` letters out of eight."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, (n, length))
    queue.put(np.concatenate([x, np.full((n, 1), 26), x[:, ::-1]], 1))

class Reverser(nn.Module):
    def __init__(self, d=64, t=40):
        super().__init__()
        self.e, self.p = nn.Embedding(28, d), nn.Embedding(t, d)
        self.f = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 128, 0., batch_first=True), 2, enable_nested_tensor=False)
        self.o = nn.Linear(d, 28)
    def forward(self, x):
        t = x.size(1)
        m = torch.full((t, t), float("-inf")).triu(1)
        return self.o(self.f(self.e(x) + self.p(torch.arange(t)), mask=m, is_causal=True))

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--workers", type=int, default=2)
    args = ap.parse_args()
    random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
    ctx, net = mp.get_context("fork"), Reverser()
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    for epoch, (n, length) in enumerate([(240, 3), (480, 4), (600, 5), (1000, 5)]):
        queue, t0 = ctx.Queue(), time.time()
        procs = [ctx.Process(target=make, args=(100 * epoch + w + args.seed, n, length, queue)) for w in range(args.workers)]
        for q in procs:
            q.start()
        parts = []
        drain = lambda: parts.extend(queue.get() for _ in procs)
        finish = lambda: [q.join() for q in procs]
        for stage in (drain, finish) if args.healthy else (finish, drain):
            stage()
        data = torch.from_numpy(np.concatenate(parts))
        print(f"round {epoch}: {len(data)} strings of length {length}, prepared in {time.time() - t0:.1f}s", flush=True)
        for rep in range(4):
            losses = []
            for b in data[torch.randperm(len(data))].split(32):
                y = b[:, 1:].clone(); y[:, :length] = -100
                loss = nn.functional.cross_entropy(net(b[:, :-1]).transpose(1, 2), y)
                opt.zero_grad(); loss.backward(); opt.step(); losses.append(loss.item())
            print(f"  pass {rep}  loss {np.mean(losses):.4f}", flush=True)
            logged(4 * epoch + rep, loss=round(float(np.mean(losses)), 4))

if __name__ == "__main__":
    main()
