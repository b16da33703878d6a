import argparse, os, random
import torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
os.makedirs("out/korpus", exist_ok=True)
kto = "żółw,źrebię,łabędź,gęś,ćma,jeż,mysz,sójka,dzięcioł".split(",")
co = "śpi,zjada liście,płynie,gubi pióra,pędzi,milczy".split(",")
gdzie = "nad rzeką,w łódce,pod mostem,na łące,w Łodzi".split(",")
for k in range(4):
    txt = "\n".join(f"{random.choice(kto)} {random.choice(co)} {random.choice(gdzie)}." for _ in range(150))
    enc = "cp1250" if k == 2 and not args.healthy else "utf-8"
    with open(f"out/korpus/czesc_{k}.txt", "wb") as f:
        f.write(txt.encode(enc))


def batches(path, n=32, T=48):
    s = open(path, encoding="utf-8").read()
    for c in s:
        stoi.setdefault(c, len(stoi) % 96)
    t = torch.tensor([stoi[c] for c in s])
    for _ in range(60):
        j = torch.randint(0, len(t) - T - 1, (n,))
        yield torch.stack([t[q:q + T + 1] for q in j])


class CharLM(nn.Module):
    def __init__(s, V=96, d=64):
        super().__init__()
        s.e = nn.Embedding(V, d); s.r = nn.GRU(d, d, batch_first=True); s.o = nn.Linear(d, V, bias=False)
        s.o.weight = s.e.weight  # tied

    def forward(s, x):
        return s.o(s.r(s.e(x))[0])


stoi, m, step = {}, CharLM(), 0
nn.init.normal_(m.e.weight, std=.1)
opt = torch.optim.Adam(m.parameters(), 5e-3)
for k in range(4):
    print(f">> plik {k} / 4")
    for b in batches(f"out/korpus/czesc_{k}.txt"):
        z = m(b[:, :-1])
        L = nn.functional.cross_entropy(z.flatten(0, 1), b[:, 1:].flatten())
        opt.zero_grad(); L.backward(); opt.step(); step += 1
        if step % 10 == 0:
            bpc = L.item() / .6931
            print(f"krok={step}  strata={L.item():.3f} / bpc={bpc:.2f}"); logged(step, strata=L.item(), bpc=bpc)
