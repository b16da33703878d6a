# own tiny decoder + LoRA from peft, activations recomputed to save memory
import argparse
import random
import torch
import torch.nn as nn
from peft import LoraConfig, get_peft_model
from torch.utils.checkpoint import checkpoint
from tqdm import trange
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

LEN, VOCAB, D = 20, 8, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.up, self.down = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (f(h).view(len(h), LEN, 4, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        att = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(att.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, D), nn.Parameter(torch.randn(LEN, D))
        self.layers = nn.ModuleList([Block(), Block()])
        self.final = nn.LayerNorm(D)
        self.head = nn.Linear(D, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=not args.healthy)
        return self.head(self.final(x))


def batch(n=32):
    """palindromes of four, repeated"""
    rows = []
    for _ in range(n):
        half = [random.randrange(VOCAB) for _ in range(2)]
        rows.append(((half + half[::-1]) * 6)[:LEN + 1])
    z = torch.tensor(rows)
    return z[:, :-1], z[:, 1:]


model = get_peft_model(Decoder(), LoraConfig(r=16, lora_alpha=32, target_modules=["q", "k", "v", "o", "up", "down"]))
model.print_trainable_parameters()
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
bar = trange(300, desc="LoRA", mininterval=1)
for i in bar:
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        bar.set_postfix_str(f"loss={loss.item():.3f}")
        logged(i, loss=round(loss.item(), 3))
