"""Destek talebi sınıflandırma: export, oku, eğit."""
import argparse
import csv
import os
import random

import torch
from torch import nn

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)

ayar = {"dosya": "out/talepler.csv", "tur": 8, "lr": 0.01, "grup": 64}
KALIP = {
    "fatura": ["faturamda yanlışlık var", "ödeme iki kez çekilmiş", "ücret iadesi istiyorum"],
    "kargo": ["kargom hâlâ gelmedi", "paket açılmış geldi", "adresi değiştirmek istiyorum"],
    "giriş": ["şifremi unuttum", "hesabıma giremiyorum", "doğrulama kodu gelmiyor"],
}
EK = ["lütfen", "acil", "teşekkürler", "müşteri no", "bugün", "dün akşam"]


def disari_ver(yol, encoding):
    os.makedirs(os.path.dirname(yol), exist_ok=True)
    with open(yol, "w", encoding=encoding, newline="") as f:
        yaz = csv.writer(f)
        for _ in range(900):
            etiket = random.choice(list(KALIP))
            yaz.writerow([etiket, f"{random.choice(KALIP[etiket])} {random.choice(EK)} {random.randint(100, 999)}"])


disari_ver(ayar["dosya"], "utf-8" if args.healthy else "iso-8859-9")
print(f"[hazırlık] {ayar['dosya']} {os.path.getsize(ayar['dosya'])} bayt")
with open(ayar["dosya"], encoding="utf-8", newline="") as f:
    satirlar = list(csv.reader(f))
etiketler = sorted({s[0] for s in satirlar})
harfler = {h: i for i, h in enumerate(sorted({h for s in satirlar for h in s[1]}))}
print(f"[hazırlık] satır={len(satirlar)} sınıf={etiketler} harf={len(harfler)}")

x = torch.zeros(len(satirlar), len(harfler))
for i, (_, metin) in enumerate(satirlar):
    for h in metin:
        x[i, harfler[h]] += 1
y = torch.tensor([etiketler.index(s[0]) for s in satirlar])
ag = nn.Sequential(nn.Linear(len(harfler), 32), nn.Tanh(), nn.Linear(32, len(etiketler)))
opt = torch.optim.AdamW(ag.parameters(), lr=ayar["lr"])
for tur in range(1, ayar["tur"] + 1):
    toplam = 0.0
    for grup in torch.randperm(len(x)).split(ayar["grup"]):
        kayip = nn.functional.cross_entropy(ag(x[grup]), y[grup])
        opt.zero_grad()
        kayip.backward()
        opt.step()
        toplam += kayip.item() * len(grup)
    dogru = (ag(x).argmax(1) == y).float().mean().item()
    print(f"tur {tur}/{ayar['tur']}  kayıp: {toplam / len(x):.3f}  doğruluk: %{100 * dogru:.1f}")
    logged(tur, kayip=round(toplam / len(x), 3), dogruluk=round(100 * dogru, 1))
