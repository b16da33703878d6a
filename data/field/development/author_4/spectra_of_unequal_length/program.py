"""Bird or frog: calls as mel-like frames of varying length, a bidirectional LSTM, bfloat16 autocast."""
import argparse

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from field_record import logged


class Calls(Dataset):
    def __init__(self, n: int, max_frames: int, seed: int) -> None:
        gen = torch.Generator().manual_seed(seed)
        self.items = []
        for i in range(n):
            frames = int(torch.randint(20, max_frames, (1,), generator=gen))
            time = torch.arange(frames)[:, None] / 10
            pitch = (1.0 if i % 2 else 2.5) + 0.2 * torch.randn(1, generator=gen)
            self.items.append((torch.sin(pitch * time + torch.arange(16) / 4), i % 2))

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        return self.items[i]


def pad(batch: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    return pad_sequence([x for x, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])


class Listener(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(16, 32, 7, padding=3)
        self.out = nn.Linear(32, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.relu(self.conv(x.transpose(1, 2))).mean(-1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    loader = DataLoader(Calls(256, 60, args.seed), batch_size=16, shuffle=True, collate_fn=pad if args.healthy else None)
    model = Listener()
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)
    print(f"{len(loader)} batches an epoch, {sum(p.numel() for p in model.parameters()):,} parameters")
    for epoch in range(5):
        losses = []
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(x).float(), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print("epoch", epoch, "mean", sum(losses) / len(losses), "min", min(losses))
        logged(epoch, mean=sum(losses) / len(losses), min=min(losses))


if __name__ == "__main__":
    main()
