# previsão probabilística: média e desvio
import argparse
import torch
import torch.nn as nn
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

x = torch.rand(3000, 2) * 2 - 1
y = 0.3 * torch.sin(3 * x[:, 0]) * x[:, 1] + 0.02 * torch.randn(3000)
rede = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.Adam(rede.parameters(), lr=3e-3)
for epoca in range(1, 26):
    soma = 0.0
    for lote in torch.randperm(2500).split(100):
        mu, log_s = rede(x[lote]).unbind(-1)
        nll = (log_s + 0.5 * ((y[lote] - mu) / log_s.exp()) ** 2).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
        soma += nll.item()
    with torch.no_grad():
        mu, log_s = rede(x[2500:]).unbind(-1)
        nll_teste = (log_s + 0.5 * ((y[2500:] - mu) / log_s.exp()) ** 2).mean().item()
        rmse = (mu - y[2500:]).pow(2).mean().sqrt().item()
    print(f"época {epoca:02d}  nll_treino {soma / 25:+.3f}  nll_teste {nll_teste:+.3f}  rmse {rmse:.4f}".replace(".",
                                                                                                                 ","))
    logged(epoca, nll_treino=round(soma / 25, 3), nll_teste=round(nll_teste, 3), rmse=round(rmse, 4))
