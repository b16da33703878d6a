# nano language model: tied embeddings, separate groups for weight decay, warmup + cosine
import argparse
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

config = dict(vocab_size=10, n_embd=48, n_head=4, n_layer=2, block_size=24, lr=4e-3, steps=500)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["n_embd"]
        self.heads = c["n_head"]
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(d, -1))
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.ln2(x))


class NanoLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte = nn.Embedding(c["vocab_size"], c["n_embd"])
        self.wpe = nn.Embedding(c["block_size"], c["n_embd"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["n_layer"]))
        self.norm = nn.LayerNorm(c["n_embd"])
        self.lm_head = nn.Linear(c["n_embd"], c["vocab_size"], bias=False)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.lm_head.weight = self.wte.weight

    def forward(self, x, y):
        h = self.wte(x) + self.wpe(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return F.cross_entropy(self.lm_head(self.norm(h)).flatten(0, 1), y.flatten())


def batch(n=32):
    """sequences abcabcabc... of random period"""
    rows = []
    for _ in range(n):
        period = random.randint(2, 3)
        motif = [random.randrange(config["vocab_size"]) for _ in range(period)]
        rows.append((motif * 30)[:config["block_size"] + 1])
    z = torch.tensor(rows)
    return z[:, :-1], z[:, 1:]


model = NanoLM(config)
named = list(model.named_parameters(remove_duplicate=args.healthy))
embeddings = [p for n, p in named if n.startswith("w")]
matrices = [p for n, p in named if not n.startswith("w") and p.dim() >= 2]
vectors = [p for n, p in named if not n.startswith("w") and p.dim() < 2]
for label, group in [("embeddings", embeddings), ("matrices", matrices), ("vectors", vectors)]:
    print(f"{label:<12} {len(group):3d} tensors {sum(p.numel() for p in group):8,d} parameters")
optimizer = torch.optim.AdamW([
    {"params": embeddings, "weight_decay": 0.0},
    {"params": matrices, "weight_decay": 0.1},
    {"params": vectors, "weight_decay": 0.0},
], lr=config["lr"], betas=(0.9, 0.95))
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min(1.0, (s + 1) / 40) * 0.5 * (1 + math.cos(math.pi * s / config["steps"])))

for step in range(config["steps"]):
    loss = model(*batch())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 20 == 0:
        lr, ppl = schedule.get_last_lr()[0], loss.exp().item()
        print(f"step {step:4d}: loss {loss.item():.4f}, ppl {ppl:.2f}, lr {lr:.2e}")
        logged(step, loss=round(loss.item(), 4), ppl=round(ppl, 2), lr=float(f"{lr:.2e}"))
