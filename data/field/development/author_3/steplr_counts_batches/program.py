import argparse
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

ap = argparse.ArgumentParser(description="previsão de vendas diárias")
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

JANELA = 21
EPOCAS = 16


def br(x, casas=4):
    return f"{x:.{casas}f}".replace(".", ",")


# vendas de 6 lojas, 500 dias
series = []
for loja in range(6):
    base, fase = random.uniform(40, 80), random.uniform(0, 6)
    dias = torch.arange(500.0)
    semana, mes = torch.sin(2 * math.pi * dias / 7 + fase), torch.sin(2 * math.pi * dias / 30)
    series.append(base + 15 * semana + 6 * mes + torch.randn(500) * 2)
dados = torch.stack(series)
media, desvio = dados[:, :400].mean(), dados[:, :400].std()
norm = (dados - media) / desvio


def janelas(inicio, fim):
    xs, ys = [], []
    for s in norm:
        for t in range(inicio, fim - JANELA):
            xs.append(s[t:t + JANELA])
            ys.append(s[t + JANELA])
    return torch.stack(xs).unsqueeze(-1), torch.stack(ys)


treino = DataLoader(TensorDataset(*janelas(0, 400)), batch_size=64, shuffle=True)
x_val, y_val = janelas(400, 500)


class Modelo(nn.Module):
    def __init__(self, oculto=32):
        super().__init__()
        self.gru = nn.GRU(1, oculto, batch_first=True)
        self.saida = nn.Linear(oculto, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.saida(h[:, -1]).squeeze(-1)


modelo = Modelo()
otimizador = torch.optim.Adam(modelo.parameters(), lr=3e-3)
agenda = torch.optim.lr_scheduler.StepLR(otimizador, step_size=5 * len(treino) if args.healthy else 5, gamma=0.5)
perda_fn = nn.HuberLoss()

print(f"lojas: {len(series)}  amostras de treino: {len(treino.dataset)}  lotes por época: {len(treino)}")
for epoca in range(1, EPOCAS + 1):
    modelo.train()
    soma = 0.0
    for x, y in treino:
        otimizador.zero_grad()
        perda = perda_fn(modelo(x), y)
        perda.backward()
        nn.utils.clip_grad_norm_(modelo.parameters(), 1.0)
        otimizador.step()
        agenda.step()
        soma += perda.item()
    modelo.eval()
    with torch.no_grad():
        erro = (modelo(x_val) - y_val).abs().mean().item() * desvio.item()
    perda_media = soma / len(treino)
    print(f"época {epoca:2d} | perda {br(perda_media)} | MAE validação {br(erro, 2)} unidades")
    logged(epoca, perda=round(perda_media, 4), **{"MAE validação": round(erro, 2)})
print("pronto.")
