"""Frame-wise phone classifier on synthetic formant tracks."""
import argparse
import logging

import torch
from torch import Tensor, nn

from field_record import logged

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("phones")


def make_frames(n: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    """Six vowels, each with its mean of three formants (kHz), with delta features."""
    means = torch.tensor([[.3, 2.2, 2.9], [.45, 1.9, 2.5], [.7, 1.1, 2.4], [.6, .9, 2.4], [.35, .8, 2.2], [.5, 1.4, 2.5]])
    y = torch.randint(0, 6, (n,), generator=gen)
    return means[y] + 0.07 * torch.randn(n, 3, generator=gen), y


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    x, y = make_frames(4096, gen)
    model = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.85)
    batches = 4096 // 64
    decay_every = batches if args.healthy else 1
    log.info("frames=%d batches=%d parameters=%d", len(x), batches, sum(p.numel() for p in model.parameters()))
    step = 0
    for epoch in range(12):
        order = torch.randperm(len(x), generator=gen)
        total, right = 0.0, 0
        for idx in order.split(64):
            logits = model(x[idx])
            loss = nn.functional.cross_entropy(logits, y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % decay_every == 0:
                scheduler.step()
            total += loss.item()
            right += (logits.argmax(-1) == y[idx]).sum().item()
        fer = 100 * (1 - right / len(x))
        log.info("epoch %02d | ce %.4f | FER %.2f%%", epoch, total / batches, fer)
        logged(epoch, ce=round(total / batches, 4), FER=round(fer, 2))


if __name__ == "__main__":
    main()
