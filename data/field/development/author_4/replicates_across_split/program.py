"""Species from mass spectra: each specimen was measured several times."""
import argparse
import json

import torch
from torch import Tensor, nn

from field_record import logged

SPECIMENS, REPLICATES, PEAKS, SPECIES = 60, 8, 64, 4


def measure(specimens: int) -> tuple[Tensor, Tensor, Tensor]:
    """Spectra, species and number of the specimen."""
    base = torch.zeros(SPECIES, PEAKS)
    for s in range(SPECIES):
        base[s, 8 * s:8 * s + 4] = 0.9
    species = torch.arange(specimens) % SPECIES
    own = base[species] + 1.0 * torch.randn(specimens, PEAKS)
    number = torch.arange(specimens).repeat_interleave(REPLICATES)
    return own[number] + 0.05 * torch.randn(len(number), PEAKS), species[number], number


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(-1) == y).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x, y, number = measure(SPECIMENS)
    x_new, y_new, _ = measure(200)
    unit = number if args.healthy else torch.arange(len(x))
    picked = torch.randperm(int(unit.max()) + 1)[: (int(unit.max()) + 1) // 4]
    held_out = torch.isin(unit, picked)
    model = nn.Sequential(nn.Linear(PEAKS, 64), nn.ReLU(), nn.Linear(64, SPECIES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    x_train, y_train = x[~held_out], y[~held_out]
    print(json.dumps({"event": "split", "train": len(x_train), "dev": int(held_out.sum()), "external": len(x_new)}))
    for epoch in range(24):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x_train)).split(32):
            loss = nn.functional.cross_entropy(model(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        row = {"train_loss": round(total / len(x_train), 4), "dev_acc": round(accuracy(model, x[held_out], y[held_out]), 4),
               "external_acc": round(accuracy(model, x_new, y_new), 4)}
        print(json.dumps({"event": "epoch", "epoch": epoch, **row}))
        logged(epoch, **row)


if __name__ == "__main__":
    main()
