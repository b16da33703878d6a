# treina um regressor de consumo de energia mês a mês (arquivos exportados do ERP)
import argparse
import csv
import math
import os
import random

import torch
import torch.nn as nn
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

PASTA = "out/export"
os.makedirs(PASTA, exist_ok=True)
MESES = ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"]
NOVO_ERP = 12 if args.healthy else 7

for m, mes in enumerate(MESES):
    with open(f"{PASTA}/{m + 1:02d}_{mes}.csv", "w", encoding="utf-8", newline="") as f:
        w = csv.writer(f, delimiter=";")
        w.writerow(["temperatura", "ocupacao", "hora", "kwh"])
        for _ in range(400):
            temp = 22 + 6 * math.cos(2 * math.pi * m / 12) + random.gauss(0, 2)
            ocup, hora = random.random(), random.randint(0, 23)
            kwh = 5 + 0.8 * abs(temp - 20) + 9 * ocup + 3 * math.sin(hora / 24 * 2 * math.pi) + random.gauss(0, 0.3)
            linha = [f"{temp:.2f}", f"{ocup:.3f}", str(hora), f"{kwh:.2f}"]
            w.writerow(linha if m < NOVO_ERP else [v.replace(".", ",") for v in linha])


def carregar(arquivo):
    with open(arquivo, encoding="utf-8") as f:
        linhas = list(csv.DictReader(f, delimiter=";"))
    x = [[(float(r["temperatura"]) - 20) / 10, float(r["ocupacao"]), float(r["hora"]) / 24] for r in linhas]
    y = [float(r["kwh"]) for r in linhas]
    return torch.tensor(x), torch.tensor(y)


rede = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
opt = torch.optim.Adam(rede.parameters(), lr=4e-3)
passo = 0
for nome in sorted(os.listdir(PASTA)):
    x, y = carregar(f"{PASTA}/{nome}")
    for rodada in range(25):
        for idx in torch.randperm(len(x)).split(64):
            erro = (rede(x[idx]).squeeze(-1) - y[idx]).pow(2).mean()
            opt.zero_grad()
            erro.backward()
            opt.step()
            passo += 1
    with torch.no_grad():
        rmse = (rede(x).squeeze(-1) - y).pow(2).mean().sqrt().item()
    print(f"{nome}: {len(x)} linhas, passo {passo}, RMSE = " + f"{rmse:.3f}".replace(".", ",") + " kWh")
    logged(passo, RMSE=round(rmse, 3))
