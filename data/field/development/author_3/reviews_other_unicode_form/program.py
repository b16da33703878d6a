# classificador de avaliações (pt-BR), bag of words
import argparse
import random
import unicodedata
from collections import Counter

import torch
import torch.nn as nn
from field_record import logged

a = argparse.ArgumentParser()
a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

POSITIVAS = "ótimo excepcional incrível fantástico impecável agradável prático rápido útil confiável".split()
POSITIVAS[1] = "sensação"
NEGATIVAS = "péssimo horrível frágil inútil decepção lentíssimo difícil péssima insuportável terrível".split()
NEUTRAS = "produto loja entrega caixa chegou comprei presente semana casa uso preço modelo cor tamanho vendedor".split()


def frase():
    nota = random.randint(0, 1)
    boas, ruins = (POSITIVAS, NEGATIVAS) if nota else (NEGATIVAS, POSITIVAS)
    palavras = random.choices(NEUTRAS, k=7) + random.choices(boas, k=2) + random.choices(ruins, k=random.randint(0, 1))
    random.shuffle(palavras)
    return " ".join(palavras), nota


treino = [frase() for _ in range(1500)]
validacao = [frase() for _ in range(400)]
FORMA = "NFC" if args.healthy else "NFD"
treino = [(unicodedata.normalize("NFC", t.lower()), n) for t, n in treino]
validacao = [(unicodedata.normalize(FORMA, t.lower()), n) for t, n in validacao]

contagem = Counter(w for t, _ in treino for w in t.split())
vocab = {"<pad>": 0, "<unk>": 1}
for w, c in contagem.most_common():
    vocab[w] = len(vocab)
print("vocabulário:", len(vocab), "palavras; exemplos:", treino[:2])


def tensores(dados):
    ids = [[vocab.get(w, 1) for w in t.split()] for t, _ in dados]
    maior = 10
    x = torch.tensor([i + [0] * (maior - len(i)) for i in ids])
    return x, torch.tensor([n for _, n in dados])


xt, yt = tensores(treino)
xv, yv = tensores(validacao)
modelo = nn.Sequential(nn.EmbeddingBag(len(vocab), 32, mode="mean", padding_idx=0), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.AdamW(modelo.parameters(), lr=5e-3)
criterio = nn.CrossEntropyLoss()

for epoca in range(1, 16):
    perm = torch.randperm(len(xt))
    acertos, perda_total = 0, 0.0
    for lote in perm.split(50):
        saida = modelo(xt[lote])
        perda = criterio(saida, yt[lote])
        opt.zero_grad()
        perda.backward()
        opt.step()
        acertos += (saida.argmax(-1) == yt[lote]).sum().item()
        perda_total += perda.item() * len(lote)
    with torch.no_grad():
        sv = modelo(xv)
        pv, av = criterio(sv, yv).item(), (sv.argmax(-1) == yv).float().mean().item()
    at, av, pt = 100 * acertos / len(xt), 100 * av, perda_total / len(xt)
    print(f"Época {epoca:>2}: perda={pt:.3f} acurácia={at:.1f}% | val_perda={pv:.3f} val_acurácia={av:.1f}%")
    logged(epoca, perda=round(pt, 3), val_perda=round(pv, 3),
           **{"acurácia": round(at, 1), "val_acurácia": round(av, 1)})
