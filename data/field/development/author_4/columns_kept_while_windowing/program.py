"""datasets: utterances are cut into windows of frames, then a linear probe tells voiced from unvoiced."""
import argparse
import random

import torch
from datasets import Dataset
from torch import nn

from field_record import logged


def utterances(n: int, rng: random.Random) -> list[dict]:
    rows = []
    for i in range(n):
        voiced = rng.randrange(2)
        frames = [rng.gauss(0, 1) + (1.5 if voiced else -0.5) for _ in range(rng.randint(20, 60))]
        rows.append({"speaker": f"loc{i % 7}", "frames": frames, "voiced": voiced})
    return rows


def windows(batch: dict[str, list]) -> dict[str, list]:
    out: dict[str, list] = {"x": [], "y": []}
    for frames, voiced in zip(batch["frames"], batch["voiced"]):
        for start in range(0, len(frames) - 9, 10):
            out["x"].append(frames[start:start + 10])
            out["y"].append(voiced)
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    raw = Dataset.from_list(utterances(300, random.Random(args.seed)))
    print(raw)
    data = raw.map(windows, batched=True, batch_size=50, remove_columns=raw.column_names if args.healthy else None)
    print(data)
    data = data.with_format("torch")
    model = nn.Linear(10, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for epoch in range(6):
        total, n = 0.0, 0
        for batch in data.shuffle(seed=epoch).iter(batch_size=32):
            loss = nn.functional.cross_entropy(model(batch["x"]), batch["y"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch} | xent = {total / n:.6f}")
        logged(epoch, xent=round(total / n, 6))


if __name__ == "__main__":
    main()
