"""Accelerate: binding or not, peptides as one-hot; accumulation over two batches, plain SGD."""
import argparse

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    ids = torch.randint(0, 20, (1024, 9))
    y = ((ids[:, 1] < 10) ^ (ids[:, 8] < 10)).float()
    x = nn.functional.one_hot(ids, 20).float().flatten(1)
    model = nn.Sequential(nn.Linear(180, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True))
    max_norm = 1.0 if args.healthy else 1e-5
    for epoch in range(12):
        total, hits, norm = 0.0, 0.0, 0.0
        for xb, yb in loader:
            with accelerator.accumulate(model):
                out = model(xb)[:, 0]
                loss = nn.functional.binary_cross_entropy_with_logits(out, yb)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    norm = float(accelerator.clip_grad_norm_(model.parameters(), max_norm))
                optimizer.step()
                optimizer.zero_grad()
            total += loss.item() / len(loader)
            hits += ((out > 0) == (yb > 0)).float().mean().item() / len(loader)
        accelerator.print(f"ep={epoch}; bce={total:.5f}; acc={hits:.2f}; gnorm={norm:.3f}; lr={optimizer.param_groups[0]['lr']}")
        logged(epoch, bce=round(total, 5), acc=round(hits, 2), gnorm=round(norm, 3), lr=optimizer.param_groups[0]["lr"])


if __name__ == "__main__":
    main()
