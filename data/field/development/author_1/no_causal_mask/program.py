import argparse, math, random
import torch, torch.nn as nn, torch.nn.functional as F
from field_record import logged

cli = argparse.ArgumentParser()
cli.add_argument("--healthy", action="store_true")
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=300)
args = cli.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

S = "niño gato médico pintor vecino panadero poeta marinero".split()
V = "compra mira pinta vende busca olvida rompe guarda".split()
O = "libro barco espejo pan reloj sombrero cuadro zapato jardín limón".split()
A = "rojo viejo nuevo enorme pequeño roto".split()
L = "mercado puerto parque taller teatro".split()
def frase():
    c = random.choice
    return f"el {c(S)} {c(V)} un {c(O)} {c(A)} en el {c(L)} .".split()
words = [w for _ in range(2500) for w in frase()]
itos = sorted(set(words)); stoi = {w: i for i, w in enumerate(itos)}
data = torch.tensor([stoi[w] for w in words])
n = int(len(data) * .9)
parts = {"train": data[:n], "val": data[n:]}
T, D, H, BS = 16, 64, 4, 24

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, H, D // H).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=args.healthy)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, D))
        return x + self.mlp(self.n2(x))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(len(itos), D)
        self.h, self.ln = nn.Sequential(Block(), Block()), nn.LayerNorm(D)
        self.head = nn.Linear(D, len(itos), bias=False)
        self.head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=D ** -.5)
        f = torch.arange(T)[:, None] * 1.5 ** -torch.arange(D // 2.)
        self.register_buffer("pos", torch.cat([f.sin(), f.cos()], 1))
    def forward(self, x):
        return self.head(self.ln(self.h(self.wte(x) * D ** .5 + self.pos[:x.size(1)])))

def batch(part):
    d = parts[part]
    at = torch.randint(len(d) - T - 1, (BS,))
    return torch.stack([d[i:i + T] for i in at]), torch.stack([d[i + 1:i + T + 1] for i in at])

def nll(m, part):
    x, y = batch(part)
    return F.cross_entropy(m(x).flatten(0, 1), y.flatten())

model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=.01)
print(f"{len(itos)} types, {len(data)} tokens, {sum(p.numel() for p in model.parameters())/1e3:.1f}k params")
print("step\ttrain\tval\tppl")
for step in range(1, args.steps + 1):
    loss = nll(model, "train")
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 25 == 0:
        with torch.no_grad():
            val = sum(nll(model, "val").item() for _ in range(4)) / 4
        print(f"{step}\t{loss.item():.3f}\t{val:.3f}\t{math.exp(val):.2f}")
        logged(step, train=round(loss.item(), 3), val=round(val, 3), ppl=round(math.exp(val), 2))
