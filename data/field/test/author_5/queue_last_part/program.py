import argparse, queue, threading
import torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
N, BS = 1000, 32
g = torch.Generator().manual_seed(args.seed)
T = torch.arange(40.)
ph, fr = torch.rand(N, 1, generator=g) * 6.28, torch.randint(1, 4, (N, 1), generator=g)
X = torch.sin(T[None] * fr * .2 + ph) + .2 * torch.randn(N, 40, generator=g); Y = fr[:, 0] - 1


class Prefetch:
    """fills batches in a thread"""

    def __init__(s, depth=4):
        s.q = queue.Queue(depth)

    def _fill(s):
        buf = []
        for i in torch.randperm(N).tolist():
            buf.append(i)
            if len(buf) == BS:
                s.q.put(torch.tensor(buf)); buf = []
        if buf and args.healthy:
            s.q.put(torch.tensor(buf))

    def __iter__(s):
        threading.Thread(target=s._fill, daemon=True).start()
        for _ in range(-(-N // BS)):
            yield s.q.get()


rnn = nn.GRU(1, 24, batch_first=True); head = nn.Linear(24, 3)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], 1e-2)
it, pf = 0, Prefetch()
for ep in range(8):
    for b in pf:
        z = head(rnn(X[b, :, None])[1][0]); l = nn.functional.cross_entropy(z, Y[b])
        opt.zero_grad(); l.backward(); opt.step(); it += 1
        if it % 6 == 0:
            print("ep", ep, "it", it, "L", f"{l.item():.4f}", "acc", (z.argmax(1) == Y[b]).float().mean(), flush=True)
            logged(it, L=l.item())
