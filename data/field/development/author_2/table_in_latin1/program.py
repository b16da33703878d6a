"""datasets: liest den Export einer Prüfstation (CSV) und lernt daraus, welche Prüfungen misslingen."""

import argparse
import csv
import random
from pathlib import Path

import torch
from datasets import load_dataset
from torch import nn

from field_record import logged

PRUEFER = ["Müller", "Schäfer", "Groß", "Weiß", "Jäger"]
TEILE = ["Gehäuse", "Düse", "Hülse", "Zylinder", "Bügel"]


def export(path, encoding, rng):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding=encoding, newline="") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(["teil", "pruefer", "laenge", "dicke", "ergebnis"])
        for _ in range(1500):
            teil, laenge, dicke = rng.randrange(5), rng.gauss(0, 1), rng.gauss(0, 1)
            schlecht = int(abs(laenge) + 0.5 * abs(dicke) + 0.3 * teil > 1.9)
            table.writerow([TEILE[teil], rng.choice(PRUEFER), f"{laenge:.3f}", f"{dicke:.3f}", schlecht])


class Pruefmodell(nn.Module):
    def __init__(self, teile, breite=32):
        super().__init__()
        self.teil = nn.Embedding(teile, 8)
        self.netz = nn.Sequential(
            nn.Linear(10, breite), nn.ReLU(), nn.Linear(breite, breite), nn.ReLU(), nn.Linear(breite, 1)
        )

    def forward(self, teil, masse):
        return self.netz(torch.cat([self.teil(teil), masse], 1))[:, 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    path = Path("out/export/pruefstation.csv")
    export(path, "utf-8" if args.healthy else "latin-1", random.Random(args.seed))
    data = load_dataset("csv", data_files=str(path), sep=";", split="train", cache_dir="out/cache").train_test_split(
        0.2, seed=args.seed
    )
    namen = sorted(set(data["train"]["teil"]))
    data = data.map(
        lambda zeile: {"teil_id": namen.index(zeile["teil"])}, remove_columns=["teil", "pruefer"]
    ).with_format("torch")
    modell = Pruefmodell(len(namen))
    optimierer = torch.optim.Adam(modell.parameters(), lr=3e-3)
    for epoche in range(1, 16):
        verlust = 0.0
        for stapel in data["train"].shuffle(seed=epoche).iter(batch_size=50):
            masse = torch.stack([stapel["laenge"], stapel["dicke"]], 1).float()
            fehler = nn.functional.binary_cross_entropy_with_logits(
                modell(stapel["teil_id"], masse), stapel["ergebnis"].float()
            )
            optimierer.zero_grad()
            fehler.backward()
            optimierer.step()
            verlust += fehler.item() * len(masse)
        verlust /= len(data["train"])
        print(f"Epoche {epoche:02d}  Verlust {verlust:.4f}".replace(".", ","))
        logged(epoche, Verlust=round(verlust, 4))


if __name__ == "__main__":
    main()
