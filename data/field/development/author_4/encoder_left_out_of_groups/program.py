"""Secondary structure (helix, strand, coil) of protein-like strings, by a small convolutional tagger."""
import argparse

import torch
from torch import Tensor, nn
from tqdm import tqdm

from field_record import logged

ALPHABET = "ACDEFGHIKLMNPQRSTVWY"
HELIX, STRAND = set("AELMQKRH"), set("VIYCWFT")


class Tagger(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.trunk = nn.Sequential(nn.Conv1d(8, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, width, 5, padding=2), nn.ReLU())
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 3)
        nn.init.zeros_(self.head.weight)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.norm(self.trunk(self.embed(ids).transpose(1, 2)).transpose(1, 2)))


def make_proteins(n: int, length: int = 40) -> tuple[Tensor, Tensor]:
    ids = torch.randint(0, 20, (n, length))
    kind = torch.tensor([1. if a in HELIX else -1. if a in STRAND else 0. for a in ALPHABET])[ids]
    smooth = nn.functional.avg_pool1d(kind[:, None], 5, 1, 2)[:, 0]
    return ids, torch.where(smooth > 0.15, 0, torch.where(smooth < -0.15, 1, 2))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    ids, labels = make_proteins(1024)
    model = Tagger()
    backbone = [*model.embed.parameters(), *model.trunk.parameters()]
    rest = [*model.norm.parameters()]
    rest += list(model.head.parameters()) if args.healthy else []
    optimizers = [torch.optim.AdamW(backbone, lr=3e-3), torch.optim.AdamW(rest, lr=1e-2)]
    print("epoch,step,loss,q3")
    step = 0
    for epoch in range(5):
        bar = tqdm(torch.randperm(len(ids)).split(32), desc=f"epoch {epoch}", ncols=90)
        for idx in bar:
            logits = model(ids[idx])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels[idx].flatten())
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            step += 1
            if step % 8 == 0:
                q3 = (logits.argmax(-1) == labels[idx]).float().mean().item()
                bar.set_postfix(loss=f"{loss.item():.3f}", q3=f"{q3:.3f}")
                tqdm.write(f"{epoch},{step},{loss.item():.5f},{q3:.4f}")
                logged(step, loss=round(loss.item(), 5), q3=round(q3, 4))


if __name__ == "__main__":
    main()
