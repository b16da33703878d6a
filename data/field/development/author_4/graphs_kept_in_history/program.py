"""Denoising of long traces (patch-clamp like) with a small convolutional net, inside a limit as the queue sets it."""
import argparse
import resource

import torch
from torch import Tensor, nn

from field_record import logged


def limit_memory(extra_mb: int) -> None:
    """The batch queue grants so much above what the imports take."""
    for line in open("/proc/self/status"):
        if line.startswith("VmData"):
            used = int(line.split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_mb * 2**20,) * 2)


def traces(n: int, length: int) -> tuple[Tensor, Tensor]:
    clean = (torch.randn(n, 1, length).cumsum(-1).sin() > 0).float()
    return clean + 0.4 * torch.randn_like(clean), clean


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    limit_memory(400)
    model = nn.Sequential(nn.Conv1d(1, 16, 9, padding=4), nn.ReLU(), nn.Conv1d(16, 16, 9, padding=4), nn.ReLU(), nn.Conv1d(16, 1, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    history: list = []
    for step in range(100):
        noisy, clean = traces(8, 8000)
        loss = (model(noisy) - clean).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.enable_grad():
            residual = model(noisy) - clean
        history.append(residual.abs().mean().item() if args.healthy else residual.abs().mean())
        if step % 5 == 4:
            recent = float(sum(float(h) for h in history[-5:]) / 5)
            print(f"[{step + 1:>3}/100] mse={loss.item():.5f} mae={recent:.5f}", flush=True)
            logged(step + 1, mse=round(loss.item(), 5), mae=round(recent, 5))


if __name__ == "__main__":
    main()
