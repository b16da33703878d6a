"""Which language is this snippet? Two legs of one job, the second resumes the first."""
import argparse
import io
import random

import torch
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)

SNIPPETS = {
    "py": ["def {a}({b}):", "for {a} in {b}:", "import {a}", "{a} = [x for x in {b}]"],
    "go": ["func {a}({b} int) {{", "{a} := range {b}", "package {a}", "if {a} != nil {{"],
    "sql": ["SELECT {a} FROM {b};", "WHERE {a} = {b}", "JOIN {a} ON {b}", "GROUP BY {a}"],
}
NAMES = ["foo", "bar", "idx", "rows", "user", "data", "cnt"]


def batch(n=64, width=24):
    xs, ys = [], []
    for _ in range(n):
        y = random.randrange(3)
        text = random.choice(list(SNIPPETS.values())[y]).format(a=random.choice(NAMES), b=random.choice(NAMES))
        xs.append([ord(c) % 128 for c in text.ljust(width)[:width]])
        ys.append(y)
    return torch.tensor(xs), torch.tensor(ys)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(128, 32)
        self.body = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(self.body(self.emb(x)).mean(1))


def optimizer(net, split):
    if not split:
        return torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.01)
    plain = [p for p in net.parameters() if p.ndim < 2]
    decayed = [p for p in net.parameters() if p.ndim >= 2]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01},
                              {"params": plain, "weight_decay": 0.0}], lr=2e-3)


def leg(net, opt, first, last):
    for it in range(first, last):
        x, y = batch()
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if it % 10 == 0:
            print(f"| it {it:4d} | loss {loss.item():7.4f} | groups {len(opt.param_groups)} |")
            logged(it, loss=round(loss.item(), 4))


net = Net()
opt = optimizer(net, split=True)
leg(net, opt, 0, 60)
blob = io.BytesIO()
torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "it": 60}, blob)
print(f"checkpoint: {blob.tell() / 1024:.1f} KiB, requeue")

blob.seek(0)
state = torch.load(blob)
net = Net()
net.load_state_dict(state["net"])
opt = optimizer(net, split=args.healthy)
opt.load_state_dict(state["opt"])
leg(net, opt, state["it"], 160)
