# conversa -> pedaços de 16 tokens -> modelo de linguagem
import argparse
import random
import torch
import torch.nn as nn
from datasets import Dataset, disable_progress_bars
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)
disable_progress_bars()

saudacoes = ["olá", "oi", "bom dia", "boa noite"]
pedidos = ["quero trocar o plano", "preciso da segunda via", "minha internet caiu", "qual é o saldo"]
fins = ["obrigado", "valeu", "até logo"]
conversas = [{"cliente": k, "texto": " ".join(random.choice(g) for _ in range(random.randint(3, 9))
                                              for g in (saudacoes, pedidos, fins))} for k in range(500)]
ds = Dataset.from_list(conversas)
palavras = sorted({w for r in ds for w in r["texto"].split()})
indice = {w: i for i, w in enumerate(palavras)}
BLOCO = 16


def em_blocos(lote):
    blocos = []
    for texto in lote["texto"]:
        ids = [indice[w] for w in texto.split()]
        blocos += [ids[k:k + BLOCO + 1] for k in range(0, len(ids) - BLOCO, BLOCO)]
    return {"ids": blocos}


print(f"conversas: {len(ds)}, vocabulário: {len(palavras)}")
fora = ds.column_names if args.healthy else None
ds = ds.map(em_blocos, batched=True, batch_size=100, remove_columns=fora)
print(f"blocos: {len(ds)}")
ids = torch.tensor(ds["ids"][:])

emb = nn.Embedding(len(palavras), 48)
gru = nn.GRU(48, 64, batch_first=True)
saida = nn.Linear(64, len(palavras))
pesos = [*emb.parameters(), *gru.parameters(), *saida.parameters()]
opt = torch.optim.Adam(pesos, lr=5e-3)
passo = 0
for epoca in range(3):
    for lote in torch.randperm(len(ids)).split(32):
        x, y = ids[lote, :-1], ids[lote, 1:]
        perda = nn.functional.cross_entropy(saida(gru(emb(x))[0]).flatten(0, 1), y.flatten())
        opt.zero_grad()
        perda.backward()
        opt.step()
        passo += 1
        if passo % 5 == 0:
            print(f"passo={passo};perda={perda.item():.3f};ppl={perda.exp().item():.1f}")
            logged(passo, perda=round(perda.item(), 3), ppl=round(perda.exp().item(), 1))
