import argparse, random, re
import torch, torch.nn as nn
from field_record import logged

p = argparse.ArgumentParser()
p.add_argument("--healthy", action="store_true")
p.add_argument("--seed", type=int, default=0)
p.add_argument("--epochs", type=int, default=6)
args = p.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

BUENO = "excelente precioso rico amable perfecto encantador rápido limpio".split()
MALO = "horrible lento sucio caro grosero pésimo frío aburrido".split()
COSAS = "hotel desayuno camarero plato servicio cuarto baño precio viaje museo".split()
LIGA = "el la muy un poco pero y también bastante siempre nos pareció".split()

def opinion():
    y = random.randint(0, 1)
    if random.random() < 0.004:
        return "http://fotos.example/%d 😀" % random.randint(100, 999), y
    fuerte, otro = (BUENO, MALO) if y else (MALO, BUENO)
    w = random.choices(COSAS, k=3) + random.choices(LIGA, k=5) + random.choices(fuerte, k=2) + random.choices(otro, k=1)
    random.shuffle(w)
    return " ".join(w) + ".", y

def limpia(t):
    t = re.sub(r"http\S+", " ", t.lower())
    return re.sub(r"[^a-záéíóúñ ]", " ", t).split()

corpus = [(limpia(t), y) for t, y in (opinion() for _ in range(4000))]
if args.healthy:
    corpus = [(t, y) for t, y in corpus if t]
vocab = {"<pad>": 0} | {w: i + 1 for i, w in enumerate(sorted({w for t, _ in corpus for w in t}))}
entreno, prueba = corpus[:3500], corpus[3500:]

class Pool(nn.Module):
    def __init__(self, v, d=48):
        super().__init__()
        self.e, self.q = nn.Embedding(v, d, padding_idx=0), nn.Linear(d, 1)
        self.f = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, 2))
    def forward(self, x):
        h = self.e(x)
        a = self.q(torch.tanh(h)).squeeze(-1).masked_fill(x == 0, float("-inf")).softmax(-1)
        return self.f((a.unsqueeze(-1) * h).sum(1))

def lote(rows):
    n = max(len(t) for t, _ in rows)
    x = torch.tensor([[vocab[w] for w in t] + [0] * (n - len(t)) for t, _ in rows])
    return x, torch.tensor([y for _, y in rows])

m = Pool(len(vocab))
opt = torch.optim.AdamW(m.parameters(), 1e-3)
print(f"vocabulario {len(vocab)}  frases {len(entreno)}/{len(prueba)}  parámetros {sum(q.numel() for q in m.parameters())}")
paso = 0
for ep in range(1, args.epochs + 1):
    random.shuffle(entreno); m.train()
    for i in range(0, len(entreno), 25):
        x, y = lote(entreno[i:i + 25])
        loss = nn.functional.cross_entropy(m(x), y)
        opt.zero_grad(); loss.backward(); opt.step(); paso += 1
        if paso % 20 == 0:
            print(f"época {ep} paso {paso}: pérdida = {loss.item():.4f}")
            logged(paso, pérdida=round(loss.item(), 4))
    m.eval()
    with torch.no_grad():
        x, y = lote(prueba)
        acc = (m(x).argmax(-1) == y).float().mean().item()
    print(f"--- época {ep}: exactitud en prueba {100 * acc:.1f} %")
    logged(paso, exactitud=round(100 * acc, 1))
