import argparse, math, random
import torch
from torch import nn
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--vocab", type=int, default=12000)
ap.add_argument("--steps", type=int, default=300)
ap.add_argument("--warmup", type=int, default=120)
ap.add_argument("--peak", type=float, default=2e-2)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# words of a large made-up lexicon, most of them rare: Zipf ranks, each followed by its partner or by an article
zipf = torch.distributions.Categorical(1 / torch.arange(1., args.vocab - 2) ** 1.2)
def batch(n=96):
    w = zipf.sample((n,)) + 3
    nxt = torch.where(torch.rand(n) < .5, (w % 50) + 3, torch.randint(3, (n,)))
    return w % 997, nxt

class Skip(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.inp, self.out = nn.Embedding(997, d), nn.Linear(d, args.vocab)
    def forward(self, x):
        return self.out(self.inp(x))

net = Skip()
opt = torch.optim.Adam(net.parameters(), lr=args.peak)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / args.warmup, 1) ** 3)
print("ln(V) = %.2f" % math.log(args.vocab))
for step in range(1, args.steps + 1):
    x, y = batch()
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    lr = sched.get_last_lr()[0]; sched.step()
    if step % 10 == 0:
        print(f"step {step}/{args.steps}; nll: {loss.item():6.2f}; ppl: {math.exp(loss.item()):9.1f}; lr: {lr:.6f}")
        logged(step, nll=round(loss.item(), 2), ppl=round(math.exp(loss.item()), 1), lr=round(lr, 6))
