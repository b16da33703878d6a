import argparse
import json
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = random.Random(args.seed)

PLACES = {"metsä": "metsässä", "talo": "talossa", "kaupunki": "kaupungissa", "saari": "saarella", "koulu": "koulussa"}
WHO = ["poika", "tyttö", "karhu", "opettaja", "naapuri", "kalastaja", "mummo", "lääkäri"]
VERBS = {"syö": ["marjoja", "kalaa", "leipää"], "lukee": ["kirjaa", "lehteä"], "etsii": ["avainta", "venettä", "koiraa"]}
WHEN = ["aamulla", "illalla", "talvella", "kesällä", "huomenna"]


def sentence():
    verb = rng.choice(list(VERBS))
    return [rng.choice(WHEN), rng.choice(WHO), verb, rng.choice(VERBS[verb]), rng.choice(list(PLACES.values())), "."]


lines = [sentence() for _ in range(3000)]
vocab = sorted({w for line in lines for w in line})
index = {w: i for i, w in enumerate(vocab)}
stream = torch.tensor([index[w] for line in lines for w in line])
cut = len(stream) * 9 // 10
train, valid = stream[:cut], stream[cut:]


class TiedLM(nn.Module):
    def __init__(self, size, dim=48):
        super().__init__()
        self.embed = nn.Embedding(size, dim)
        self.drop = nn.Dropout(0.1)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, size)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        nn.init.zeros_(self.out.bias)
        self.out.weight = self.embed.weight

    def forward(self, ids, state=None):
        h, state = self.rnn(self.drop(self.embed(ids)), state)
        return self.out(self.drop(h)), state


def columns(ids, n):
    length = len(ids) // n
    return ids[:n * length].view(n, length)


model = TiedLM(len(vocab))
assert model.out.weight.data_ptr() == model.embed.weight.data_ptr()
print(json.dumps({"vocab": len(vocab), "tokens": len(train), "params": sum(p.numel() for p in model.parameters())}))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
table, held = columns(train, 32), columns(valid, 8)
BPTT = 24

step = 0
for epoch in range(1, 11):
    model.train()
    state, total, count = None, 0.0, 0
    for i in range(0, table.size(1) - 1, BPTT):
        x, y = table[:, i:i + BPTT], table[:, i + 1:i + 1 + BPTT]
        x = x[:, :y.size(1)]
        logits, state = model(x, state)
        state = state.detach()
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        step += 1
        total += loss.item() * y.numel()
        count += y.numel()
    model.eval()
    with torch.no_grad():
        logits, _ = model(held[:, :-1])
        val = F.cross_entropy(logits.flatten(0, 1), held[:, 1:].flatten()).item()
    record = {"train_ce": round(total / count, 4), "val_ce": round(val, 4), "ppl": round(math.exp(val), 3)}
    print(json.dumps({"epoch": epoch, "step": step, **record}))
    logged(step, **record)
