"""Accents régionaux : classe une transcription d'après ses n-grammes de caractères."""
import argparse
import csv
import random
from pathlib import Path

import torch
from torch import nn

from field_record import logged

NORD = ["ch'est bieau", "quo qu'i dit", "min fieu", "vas-y ti", "ch'tiot"]
SUD = ["té, peuchère", "boudu, où", "il fait frisquet", "fada, vé", "là-bas, hé"]


def write_corpus(path: Path, rng: random.Random, encoding: str) -> None:
    with open(path, "w", encoding=encoding, newline="") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(["transcription", "region"])
        for _ in range(400):
            label = rng.randrange(2)
            table.writerow([" ".join(rng.choices((NORD, SUD)[label], k=3)), label])


def read_corpus(path: Path) -> tuple[list[str], list[int]]:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return [row["transcription"] for row in rows], [int(row["region"]) for row in rows]


def bag(text: str) -> torch.Tensor:
    x = torch.zeros(512)
    for a, b in zip(text, text[1:]):
        x[(ord(a) * 31 + ord(b)) % 512] += 1
    return x


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    out = Path("out")
    out.mkdir(exist_ok=True)
    write_corpus(out / "corpus.csv", random.Random(args.seed), "utf-8" if args.healthy else "latin-1")
    print("lecture de", out / "corpus.csv")
    texts, regions = read_corpus(out / "corpus.csv")
    x, y = torch.stack([bag(t) for t in texts]), torch.tensor(regions)
    model = nn.Linear(512, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(10):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"époque={epoch} perte={loss.item():.3e}")
        logged(epoch, perte=loss.item())


if __name__ == "__main__":
    main()
